import { messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import {
  type ReleaseValues,
  readReleaseValues,
  UnresolvedReference,
  unresolvedText,
  type ValuesReference,
} from "../../helm/read-values.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked } from "./blocked.ts";

/**
 * Reads the values of `spec.valuesFrom` (reference helmrelease 4), always at home and with Sluice's own rights, as in Flux.
 *
 * @throws Blocked of reason `ValuesError`, with the text that names the reference
 */
export async function readValues(ctx: HelmReleaseContext): Promise<ReleaseValues> {
  try {
    return await readReleaseValues(ctx.release.spec, (reference) => get(reference, ctx));
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    throw valuesError(error.reference, error.message, ctx, error);
  }
}

async function get(reference: ValuesReference, ctx: HelmReleaseContext): Promise<LiveObject | undefined> {
  const { home, namespace, run } = ctx;
  const { kind, name } = reference;
  try {
    return await home.get({ group: "", version: "v1", kind, namespace, name }, run.signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 0) throw error;
    throw valuesError(reference, messageOf(error), ctx, error);
  }
}

/** Flux's text. The reason may be that of a parser: it never quotes a Secret. */
export function valuesError(
  reference: ValuesReference,
  why: string,
  { namespace }: Pick<HelmReleaseContext, "namespace">,
  cause?: unknown,
): Blocked {
  const message = unresolvedText(reference, namespace, why);
  return new Blocked("ValuesError", message, { retry: "backoff", event: { type: "Warning", message }, cause });
}
