import { Failure } from "../../core/failure.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { TlsTrust } from "../../core/ports/http.ts";
import { outageOf } from "../../core/ports/outage.ts";
import { secretTexts } from "../../core/secret-texts.ts";
import { trustIn } from "../../secrets/trust.ts";
import type { SourceContext } from "./source-context.ts";

// The Secrets that a source may name (reference 1.10), for every kind of source.

/** Where the Secrets of an object are read: in its own namespace, which is the only one that it may name. */
export interface SecretContext extends Pick<SourceContext, "namespace"> {
  readonly home: Pick<SourceContext["home"], "get">;
  readonly run: Pick<SourceContext["run"], "signal">;
}

/** The decoded values of a Secret; undefined if it is not there. Throws a {@link Failure} `AuthenticationFailed`. */
export async function secretData(
  name: string,
  { home, namespace, run }: SecretContext,
): Promise<ReadonlyMap<string, string> | undefined> {
  const fault = nameFault(name);
  if (fault !== undefined) throw noCredential(`failed to get secret '${namespace}/${name}': ${fault}`);
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name };
  const secret = await home.get(ref, run.signal).catch((error: unknown) => {
    const what = `failed to get secret '${namespace}/${name}'`;
    if (error instanceof ApiError && error.reason === "Forbidden")
      throw noCredential(`${what}: ${error.message}`, error);
    throw outageOf(error, "AuthenticationFailed", `failed to get credential: ${what}`);
  });
  return secret === undefined ? undefined : secretTexts(secret);
}

/** A failure to get credentials, in Flux's words. */
export function noCredential(why: string, cause?: unknown): Failure {
  return new Failure("AuthenticationFailed", `failed to get credential: ${why}`, { cause });
}

/**
 * The TLS trust that the secret of `spec.certSecretRef` holds for a server. Throws a {@link Failure} `AuthenticationFailed`.
 *
 * @param what begins each message, where Flux says it otherwise for the kind
 */
export async function tlsTrust(
  url: string,
  name: string,
  ctx: SecretContext,
  what = `failed to generate transport for '${url}'`,
): Promise<TlsTrust> {
  const secret = `secret '${ctx.namespace}/${name}'`;
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("AuthenticationFailed", `${what}: ${why}`, { cause });
  const data = await secretData(name, ctx);
  if (data === undefined) throw failed(`${secret} not found`);
  return trustIn(data, secret, failed);
}
