import { z } from "zod";
import type { HelmReleaseSpec } from "../api/helm-release-spec.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { ValuesText, ValuesToCompose } from "../core/ports/helm-engine.ts";

export type ValuesReference = NonNullable<HelmReleaseSpec["valuesFrom"]>[number];

/** The values of a release before they are merged, and where each text is from. */
export interface ReleaseValues {
  readonly values: ValuesToCompose;
  /** The references that gave a text, in the order of `values.from`. */
  readonly references: readonly ValuesReference[];
}

/** A required reference of the values cannot be read. The message names what is missing. */
export class UnresolvedReference extends Error {
  override readonly name = "UnresolvedReference";
  readonly reference: ValuesReference;

  constructor(reference: ValuesReference, message: string) {
    super(message);
    this.reference = reference;
  }
}

/**
 * Reads what `spec.valuesFrom` refers to (reference helmrelease 4), each object once.
 *
 * @param read answers the object of a reference; undefined if it is not there
 * @throws UnresolvedReference if an object or a key is missing that is not optional
 */
export async function readReleaseValues(
  { valuesFrom = [], values }: Pick<HelmReleaseSpec, "values" | "valuesFrom">,
  read: (reference: ValuesReference) => Promise<LiveObject | undefined>,
): Promise<ReleaseValues> {
  const objects = new Map<string, Promise<LiveObject | undefined>>();
  const found: { readonly text: ValuesText; readonly reference: ValuesReference }[] = [];
  for (const reference of valuesFrom) {
    const key = `${reference.kind}/${reference.name}`;
    const known = objects.get(key);
    const object = known ?? read(reference);
    objects.set(key, object);
    const missing = known === undefined ? notFoundText(reference) : "resource not found";
    const text = textOf(reference, await object, missing);
    if (text !== undefined) found.push({ text: valuesText(text, reference), reference });
  }
  return {
    values: { from: found.map(({ text }) => text), inline: inlineOf(values) },
    references: found.map(({ reference }) => reference),
  };
}

/** The API server accepts values that are not a map. They count as empty. */
function inlineOf(values: unknown): JsonObject {
  return isJsonObject(values) ? values : {};
}

function valuesText(text: string, { literal = false, targetPath }: ValuesReference): ValuesText {
  return targetPath === undefined ? { text } : { text, targetPath, isLiteral: literal };
}

/** The API server's answer, which Flux quotes. Flux asks once for each object, so a second reference has no answer to quote. */
function notFoundText({ kind, name }: ValuesReference): string {
  return `${kind.toLowerCase()}s "${name}" not found`;
}

function textOf(reference: ValuesReference, object: LiveObject | undefined, missing: string): string | undefined {
  const { kind, optional = false } = reference;
  const text = Data.safeParse(object).data?.data?.[keyOf(reference)];
  if (text !== undefined) return kind === "Secret" ? Buffer.from(text, "base64").toString() : text;
  if (optional) return undefined;
  throw new UnresolvedReference(reference, object === undefined ? missing : "key not found");
}

const Data = z.object({ data: z.record(z.string(), z.string()).exactOptional() });

/** The key of a ConfigMap or Secret that a reference means. */
export function keyOf({ valuesKey = "values.yaml" }: ValuesReference): string {
  return valuesKey;
}

/** Flux's text for a reference that gives no values. The reason may be that of a parser: it never quotes a Secret. */
export function unresolvedText(reference: ValuesReference, namespace: string, why: string): string {
  const { kind, name, optional = false } = reference;
  const which = optional ? " optional" : "";
  return `could not resolve${which} ${kind} chart values reference '${namespace}/${name}' with key '${keyOf(reference)}': ${why}`;
}

/** Why the text of a reference cannot be merged: the parser's message, as in Flux. It may quote a Secret, and is left out there. */
export function valuesFault({ kind, targetPath }: ValuesReference, message: string): string {
  if (kind !== "Secret") return message;
  return targetPath === undefined ? "failed to read values data" : "failed to merge value";
}
