import { Failure } from "../../core/failure.ts";
import type { Proxy } from "../../core/ports/dial.ts";
import { Secret } from "../../core/secret.ts";
import { type SecretContext, secretData } from "./secrets.ts";

const maxProxyChars = 2_048;
const proxyProtocols = new Set(["http:", "https:", "socks5:"]);

/**
 * The proxy of `spec.proxySecretRef`; undefined without one (reference sources 1.10). `what` begins each message, as Flux says it for
 * the kind: `failed to get proxy address`. Throws a {@link Failure} `AuthenticationFailed`.
 */
export async function proxyOf(
  { proxySecretRef }: { readonly proxySecretRef?: { readonly name: string } },
  what: string,
  ctx: SecretContext,
): Promise<Proxy | undefined> {
  if (proxySecretRef === undefined) return undefined;
  const { name } = proxySecretRef;
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", `${what}: ${why}`, { cause });
  const secret = `secret '${ctx.namespace}/${name}'`;
  const data = await secretData(name, ctx).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw failed(error.message.replace(/^failed to get credential: /, ""), error);
  });
  if (data === undefined) throw failed(`${secret} not found`);
  const address = data.get("address");
  if (address === undefined) throw failed(`${secret}: key 'address' not found`);
  if (address === "") throw failed(`${secret}: proxy address is empty`);
  if (address.length > maxProxyChars) {
    throw failed(`${secret}: proxy URL exceeds maximum length of ${maxProxyChars} characters`);
  }
  // Not quoted, unlike in Flux: it may hold a password.
  if (!URL.canParse(address)) throw failed(`${secret}: failed to parse proxy address: it is not a URL`);
  const url = new URL(address);
  if (!proxyProtocols.has(url.protocol)) {
    const got = url.protocol.slice(0, -1);
    throw failed(`${secret}: proxy URL must use one of the supported schemes (http, https, socks5), got '${got}'`);
  }
  if (url.hostname === "") throw failed(`${secret}: failed to parse proxy address: it names no host`);
  const [own, ownPassword] = [percentDecoded(url.username), percentDecoded(url.password)];
  url.username = "";
  url.password = "";
  const username = data.get("username");
  if (username === undefined) return { url, username: own, password: new Secret(ownPassword) };
  return { url, username, password: new Secret(data.get("password") ?? "") };
}

/** The text without percent encoding; the text itself where that is invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
