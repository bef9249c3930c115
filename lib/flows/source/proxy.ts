import { Failure } from "../../core/failure.ts";
import type { Proxy } from "../../core/ports/dial.ts";
import { proxyIn } from "../../secrets/proxy.ts";
import { type SecretContext, secretData } from "./secrets.ts";

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
  return proxyIn(data, secret, failed);
}
