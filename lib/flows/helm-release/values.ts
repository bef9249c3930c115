import { z } from "zod";
import { messageOf } from "../../core/failure.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { ValuesText, ValuesToCompose } from "../../core/ports/helm-engine.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked } from "./blocked.ts";

type ValuesReference = NonNullable<HelmReleaseContext["release"]["spec"]["valuesFrom"]>[number];

/** The values of a release before they are merged, and where each text is from. */
export interface ReleaseValues {
  readonly values: ValuesToCompose;
  /** The references that gave a text, in the order of `values.from`. */
  readonly references: readonly ValuesReference[];
}

/**
 * Reads what `spec.valuesFrom` refers to (reference helmrelease 4), always at home and with Sluice's own rights, as Flux does.
 *
 * @throws Blocked of reason `ValuesError`, with the text that names the reference
 */
export async function readValues(ctx: HelmReleaseContext): Promise<ReleaseValues> {
  const { valuesFrom = [], values } = ctx.release.spec;
  // Each object is read once.
  const read = new Map<string, Promise<LiveObject | undefined>>();
  const found: { readonly text: ValuesText; readonly reference: ValuesReference }[] = [];
  for (const reference of valuesFrom) {
    const key = `${reference.kind}/${reference.name}`;
    const object = read.get(key) ?? get(reference, ctx);
    read.set(key, object);
    const text = await textOf(reference, object, ctx);
    if (text !== undefined) found.push({ text: valuesText(text, reference), reference });
  }
  return {
    values: { from: found.map(({ text }) => text), inline: inlineOf(values) },
    references: found.map(({ reference }) => reference),
  };
}

/** What is no map passes admission and counts as no values. */
function inlineOf(values: unknown): JsonObject {
  return isJsonObject(values) ? values : {};
}

function valuesText(text: string, { literal = false, targetPath }: ValuesReference): ValuesText {
  return targetPath === undefined ? { text } : { text, targetPath, isLiteral: literal };
}

async function get({ kind, name }: ValuesReference, { home, namespace, run }: HelmReleaseContext) {
  return home.get({ group: "", version: "v1", kind, namespace, name }, run.signal);
}

async function textOf(
  reference: ValuesReference,
  reading: Promise<LiveObject | undefined>,
  ctx: HelmReleaseContext,
): Promise<string | undefined> {
  const { kind, optional = false, valuesKey = "values.yaml" } = reference;
  const object = await reading.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code === 0) throw error;
    throw valuesError(reference, messageOf(error), ctx, error);
  });
  if (object === undefined) {
    if (optional) return undefined;
    throw valuesError(reference, "resource not found", ctx);
  }
  const text = Data.safeParse(object).data?.data?.[valuesKey];
  if (text === undefined) {
    if (optional) return undefined;
    throw valuesError(reference, "key not found", ctx);
  }
  return kind === "Secret" ? Buffer.from(text, "base64").toString() : text;
}

const Data = z.object({ data: z.record(z.string(), z.string()).exactOptional() });

/** Flux's text. The reason may be that of a parser: it never quotes a Secret. */
export function valuesError(
  { kind, name, optional = false, valuesKey = "values.yaml" }: ValuesReference,
  why: string,
  { namespace }: Pick<HelmReleaseContext, "namespace">,
  cause?: unknown,
): Blocked {
  const which = optional ? " optional" : "";
  const message = `could not resolve${which} ${kind} chart values reference '${namespace}/${name}' with key '${valuesKey}': ${why}`;
  return new Blocked("ValuesError", message, { retry: "backoff", event: { type: "Warning", message }, cause });
}
