import type { ApiObject } from "../core/api-object.ts";
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { typeError } from "./check-typed.ts";
import { difference, type FieldSet, isEmpty } from "./field-set.ts";
import { fieldSetOf } from "./field-set-of.ts";

const annotation = "kubectl.kubernetes.io/last-applied-configuration";
/** What all annotations of an object may hold together. */
const maxAnnotationBytes = 256 * 1024;

/** The conflicts that remain once kubectl may take what its own client-side apply had set. */
export function allowedByLastApplied(
  live: ApiObject,
  conflicts: ReadonlyMap<string, FieldSet>,
  schema: TypeSchema,
): ReadonlyMap<string, FieldSet> {
  const last = lastApplied(live);
  if (last === undefined || typeError(last, schema) !== undefined) return conflicts;
  const own = fieldSetOf(last, schema);
  const rest = [...conflicts].map(([id, set]): [string, FieldSet] => [id, difference(set, own)]);
  return new Map(rest.filter(([, set]) => !isEmpty(set)));
}

/** The object with its last-applied annotation, if it has one, made to say what kubectl applied now. */
export function withLastApplied(object: ApiObject, applied: ApiObject): ApiObject {
  const { metadata } = object;
  const annotations = annotationsOf(object);
  if (!isJsonObject(metadata) || annotations?.[annotation] === undefined) return object;
  const { [annotation]: _, ...others } = annotations;
  const text = `${goJson(withoutAnnotation(applied))}\n`;
  const fits = Buffer.byteLength(text) <= maxAnnotationBytes;
  return { ...object, metadata: { ...metadata, annotations: fits ? { ...others, [annotation]: text } : others } };
}

function withoutAnnotation(applied: ApiObject): ApiObject {
  const { metadata } = applied;
  const { [annotation]: _, ...annotations } = annotationsOf(applied) ?? {};
  const isGone = Object.keys(annotations).length === 0 && annotationsOf(applied)?.[annotation] === undefined;
  return isGone || !isJsonObject(metadata) ? applied : { ...applied, metadata: { ...metadata, annotations } };
}

function lastApplied(live: ApiObject): ApiObject | undefined {
  const text = annotationsOf(live)?.[annotation];
  if (typeof text !== "string") return undefined;
  try {
    const parsed: unknown = parseJson(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function annotationsOf(object: ApiObject): JsonObject | undefined {
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

/** As Go writes a map: keys in order, and nothing that HTML could mistake for a tag. */
function goJson(object: ApiObject): string {
  const code = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return canonicalJson(object).replaceAll(/[<>&\u2028\u2029]/g, code);
}
