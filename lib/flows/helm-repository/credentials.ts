import type { HelmRepositorySpec } from "../../api/helm-repository.ts";
import { Failure } from "../../core/failure.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import { Secret } from "../../core/secret.ts";
import { isWholeTrust, trustIn } from "../../secrets/trust.ts";
import { type SecretContext, secretData } from "../source/secrets.ts";

/** How to log in to a Helm repository. */
export interface HelmCredentials {
  readonly username?: string;
  readonly password?: Secret;
  readonly tls?: TlsTrust;
}

/**
 * The content of a HelmRepository's Secrets (reference 6.3): username and password, and the certificates of `certSecretRef`, or else
 * of `secretRef`, which is deprecated in Flux. Throws a {@link Failure} `AuthenticationFailed` in Flux's words.
 */
export async function helmCredentials(
  { certSecretRef, secretRef }: Pick<HelmRepositorySpec, "certSecretRef" | "secretRef">,
  ctx: SecretContext,
): Promise<HelmCredentials> {
  const certificates = certSecretRef && (await read(certSecretRef.name, "TLS authentication secret", ctx));
  const ownTls =
    certificates &&
    trustIn(certificates, subjectOf(certSecretRef.name, ctx), failing("failed to construct Helm client's TLS config"));
  if (secretRef === undefined) return ownTls === undefined ? {} : { tls: ownTls };
  const data = await read(secretRef.name, "authentication secret", ctx);
  const failed = failing("failed to detect authentication methods");
  const subject = subjectOf(secretRef.name, ctx);
  const [username, password] = [data.get("username"), data.get("password")];
  if (username !== undefined && password === undefined) {
    throw failed(`${subject}: malformed basic auth - has 'username' but missing 'password'`);
  }
  if (username === undefined && password !== undefined) {
    throw failed(`${subject}: malformed basic auth - has 'password' but missing 'username'`);
  }
  // Read even if certSecretRef takes precedence, as in Flux: its faults are reported. With half of a pair, all TLS keys are ignored.
  const deprecatedTls = isWholeTrust(data) ? trustIn(data, subject, failed) : undefined;
  const tls = ownTls ?? deprecatedTls;
  return {
    ...(username === undefined || password === undefined ? {} : { username, password: new Secret(password) }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function subjectOf(name: string, { namespace }: SecretContext): string {
  return `secret '${namespace}/${name}'`;
}

function failing(what: string) {
  return (why: string, cause?: unknown) => new Failure("AuthenticationFailed", `${what}: ${why}`, { cause });
}

async function read(name: string, what: string, ctx: SecretContext): Promise<ReadonlyMap<string, string>> {
  const failed = failing(`failed to get ${what} '${ctx.namespace}/${name}'`);
  const data = await secretData(name, ctx).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw failed(error.message.replace(/^failed to get credential: failed to get secret '[^']*': /, ""), error);
  });
  if (data === undefined) throw failed(`secrets ${JSON.stringify(name)} not found`);
  return data;
}
