import { Failure, messageOf } from "../../core/failure.ts";
import type { Dial } from "../../core/ports/dial.ts";
import type { HttpStreams } from "../../core/ports/http.ts";
import { GitFault } from "../../sources/git/git-fault.ts";
import type { GitLimits } from "../../sources/git/git-remote.ts";
import type { GitService, GitTransport } from "../../sources/git/git-transport.ts";
import type { SshAlgorithms } from "../../sources/git/ssh-transport.ts";
import { proxyOf } from "../source/proxy.ts";
import type { SecretContext } from "../source/secrets.ts";
import {
  type AccessSpec,
  type HttpCredentials,
  httpCredentials,
  loginSecret,
  type SshCredentials,
  sshCredentials,
} from "./credentials.ts";
import { type ProviderContext, type ProviderLogins, providerLogin } from "./provider-login.ts";

/** Opens connections to git hosts, each by the network policy, and provides logins. */
export interface GitConnections {
  readonly http: HttpStreams;
  readonly dial: Dial;
  readonly logins: ProviderLogins;
  readonly sshAlgorithms: SshAlgorithms;
}

/** The run for which a repository is opened, and the namespace of its Secrets. */
export type TransportContext = ProviderContext & SecretContext;

/**
 * The transport to the repository at this URL, with the settings of the spec and its Secrets, which are read again each time. Throws
 * a {@link Failure} in Flux's words and order (reference sources 2.4); nothing is asked of the repository itself yet.
 */
export async function gitTransport(
  text: string,
  spec: AccessSpec,
  limits: GitLimits,
  { http, dial, logins, sshAlgorithms: algorithms }: GitConnections,
  ctx: TransportContext,
  service: GitService = "git-upload-pack",
): Promise<GitTransport> {
  const proxy = await proxyOf(spec, "failed to configure proxy options", ctx);
  const url = new URL(text);
  const secret = await loginSecret(spec, ctx);
  // Most runs of an installation are of other kinds: the transports are not loaded at the start of a function.
  if (url.protocol === "ssh:") {
    const credentials = await sshCredentials(secret, spec, ctx);
    await providerLogin({ url, spec, secret, proxy, tls: {} }, logins, ctx);
    const { sshTransport } = await import("../../sources/git/ssh-transport.ts");
    return sshTransport({ service, url, proxy, algorithms, ...(await sshKeys(url, credentials)) }, dial);
  }
  const own = httpCredentials(url, secret);
  const given = await providerLogin({ url, spec, secret, proxy, tls: own.tls }, logins, ctx);
  const { httpTransport } = await import("../../sources/git/http-transport.ts");
  const headers = authorization(given === undefined ? own : { ...given, bearerToken: undefined });
  const bare = `${url.origin}${url.pathname}`;
  const transport = httpTransport({ service, url: bare, headers, tls: own.tls, proxy }, http, limits);
  const { unusable } = own;
  if (unusable === undefined || url.protocol === "http:") return transport;
  const refuse = () => Promise.reject(new GitFault("tls", unusable));
  return { ...transport, greet: refuse, send: refuse };
}

async function sshKeys({ hostname, port }: URL, { key, knownHosts }: SshCredentials) {
  const { knownHostKeys } = await import("../../sources/git/known-hosts.ts");
  const unusable = (error: unknown): Failure => {
    const why = `unable to construct auth method with options: ${messageOf(error)}`;
    return new Failure("GitOperationFailed", `failed to checkout and determine revision: ${why}`, { cause: error });
  };
  if (key instanceof Error) throw unusable(key);
  try {
    return { key, hostKeys: knownHostKeys(knownHosts, { host: hostname, port: port === "" ? 22 : Number(port) }) };
  } catch (error) {
    throw unusable(error);
  }
}

/** The header that logs in: with username or password before a token, as Flux's client has it. */
function authorization({
  bearerToken,
  password,
  username,
}: Pick<HttpCredentials, "bearerToken" | "password" | "username">): Readonly<Record<string, string>> {
  const isBasic = username !== "" || password.reveal() !== "";
  if (isBasic && bearerToken !== undefined) {
    const why = "basic auth and bearer token cannot be set at the same time";
    throw new Failure("GitOperationFailed", `failed to checkout and determine revision: ${why}`);
  }
  if (isBasic) {
    return { authorization: `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString("base64")}` };
  }
  return bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken.reveal()}` };
}
