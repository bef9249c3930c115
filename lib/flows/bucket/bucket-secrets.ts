import { Failure } from "../../core/failure.ts";
import { type SecretContext, secretData } from "../source/secrets.ts";

/** The decoded values of a Secret. */
export type SecretData = ReadonlyMap<string, string>;

/** A Secret that the spec names. Throws a {@link Failure} in Flux's words, where `what` is `secret` or `STS secret`. */
export async function readSecret(what: string, name: string, ctx: SecretContext): Promise<SecretData> {
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", `failed to get ${what} '${ctx.namespace}/${name}': ${why}`, { cause });
  const data = await secretData(name, ctx).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw failed(error.message.replace(/^failed to get credential: failed to get secret '[^']*': /, ""), error);
  });
  if (data === undefined) throw failed(`secrets ${JSON.stringify(name)} not found`);
  return data;
}

/** A Secret without a usable login. */
export function invalidSecret(name: string | undefined, why: string): Failure {
  return new Failure("AuthenticationFailed", `invalid '${name ?? ""}' secret data: ${why}`);
}
