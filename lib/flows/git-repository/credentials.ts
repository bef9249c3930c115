import { Failure, messageOf } from "../../core/failure.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import type { Tenant } from "../../core/tenant.ts";
import { isCertificate, keyPairFault } from "../../core/validation.ts";
import { percentDecoded } from "../../secrets/proxy.ts";
import type { SshKey } from "../../sources/git/ssh-key.ts";
import { type SecretContext, secretData } from "../source/secrets.ts";

/** The fields of a GitRepository that say how to reach its repository. */
export interface AccessSpec {
  readonly secretRef?: { readonly name: string };
  readonly proxySecretRef?: { readonly name: string };
  readonly provider?: "aws" | "azure" | "generic" | "github";
  readonly serviceAccountName?: string;
}

/** How to log in by http or https. */
export interface HttpCredentials {
  readonly username: string;
  readonly password: Secret;
  /** Sent where there is neither username nor password. */
  readonly bearerToken: Secret | undefined;
  readonly tls: TlsTrust;
  /** Why a certificate and key cannot be used, in Go's words: a fault of the connection, as in Flux. */
  readonly unusable?: string;
}

/** How to log in by ssh. A key that cannot be read is a fault of the connection, as in Flux. */
export interface SshCredentials {
  readonly key: SshKey | Error;
  /** The file `known_hosts`. */
  readonly knownHosts: string;
}

export type SecretData = ReadonlyMap<string, string>;

/** A failure to read or to use what logs in (reference sources 2.4). */
export function notConfigured(why: string, cause?: unknown): Failure {
  return new Failure("AuthenticationFailed", `failed to configure authentication options: ${why}`, { cause });
}

/** The Secret of `spec.secretRef`; undefined without one. Throws a {@link Failure} with Flux's text, which says it twice. */
export async function loginSecret({ secretRef }: AccessSpec, ctx: SecretContext): Promise<SecretData | undefined> {
  if (secretRef === undefined) return undefined;
  return readSecret(secretRef.name, (why) => `failed to get secret '${ctx.namespace}/${secretRef.name}': ${why}`, ctx);
}

async function readSecret(name: string, tell: (why: string) => string, ctx: SecretContext): Promise<SecretData> {
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", tell(`failed to get secret '${ctx.namespace}/${name}': ${why}`), { cause });
  const data = await secretData(name, ctx).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw failed(error.message.replace(/^failed to get credential: failed to get secret '[^']*': /, ""), error);
  });
  if (data === undefined) throw failed(`secrets ${JSON.stringify(name)} not found`);
  return data;
}

/** The login for a repository over http or https, from a Secret and the URL. Throws a {@link Failure}. */
export function httpCredentials(url: URL, secret: SecretData | undefined): HttpCredentials {
  const token = secret?.get("bearerToken");
  const read = (key: string): string => (token === undefined ? (secret?.get(key) ?? "") : "");
  const username = read("username") || percentDecoded(url.username);
  const password = read("password") || percentDecoded(url.password);
  if (username === "" && password !== "") {
    const scheme = url.protocol.slice(0, -1);
    throw notConfigured(`invalid '${scheme}' auth option: 'password' requires 'username' to be set`);
  }
  const bearerToken = token === undefined || token === "" ? undefined : new Secret(token);
  return { username, password: new Secret(password), bearerToken, ...trustOf(secret) };
}

/** As Flux for this kind: an authority that cannot be read is left out, and a certificate counts only with its key. */
function trustOf(secret: SecretData | undefined): Pick<HttpCredentials, "tls" | "unusable"> {
  const ca = [secret?.get("ca.crt"), secret?.get("caFile")].find((text = "") => text !== "") ?? "";
  const [cert = "", key = ""] = [secret?.get("tls.crt"), secret?.get("tls.key")];
  const trust = isCertificate(ca) ? { ca } : {};
  if (cert === "" || key === "") return { tls: trust };
  const unusable = keyPairFault(cert, key);
  return unusable === undefined ? { tls: { ...trust, cert, key } } : { tls: trust, unusable };
}

const loginMend =
  "name a Secret with the keys identity and known_hosts in spec.secretRef: sluice create secret git makes one";

/** The login for a repository over ssh, from a Secret. Throws a {@link Failure}, or the reason with which the run's signal was aborted. */
export async function sshCredentials(
  secret: SecretData | undefined,
  { secretRef }: AccessSpec,
  {
    namespace,
    run,
  }: Pick<SecretContext, "namespace"> & {
    readonly run: SecretContext["run"] & { readonly key: Pick<Tenant, "cluster"> };
  },
): Promise<SshCredentials> {
  const [identity = "", knownHosts = ""] = [secret?.get("identity"), secret?.get("known_hosts")];
  if (identity === "") throw notConfigured(`invalid 'ssh' auth option: 'identity' is required; ${loginMend}`);
  if (knownHosts === "") throw notConfigured(`invalid 'ssh' auth option: 'known_hosts' is required; ${loginMend}`);
  const { PassphraseMissing, parseSshKey } = await import("../../sources/git/ssh-key.ts");
  try {
    const reader = { tenant: { cluster: run.key.cluster, namespace }, signal: run.signal };
    return { key: await parseSshKey(identity, secret?.get("password") ?? "", reader), knownHosts };
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof PassphraseMissing) {
      const where = `in the secret '${namespace}/${secretRef?.name ?? ""}'`;
      const why = `SSH identity key is encrypted but no 'password' field was provided ${where}`;
      throw new Failure("AuthenticationFailed", why, { cause: error });
    }
    return { key: error instanceof Error ? error : new Error(messageOf(error)), knownHosts };
  }
}
