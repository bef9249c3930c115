import { isJsonObject, type Json } from "../../../lib/core/json.ts";
import type { ApiObject } from "../api-object.ts";
import { goText } from "../fields/go-print.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { canonicalObject } from "../rules/canonical-object.ts";
import { ConversionError } from "../rules/conversion-error.ts";
import { invalidValue } from "../rules/field-errors.ts";
import { invalid } from "../rules/invalid.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { type Cluster, metadataOf, parseKept } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import type { Written } from "./create-object.ts";
import { typeErrorOf, unknownFields } from "./decode-object.ts";
import { notFound } from "./errors.ts";
import { plainText } from "./plain-text.ts";
import { apiVersionOf, type Resource } from "./resource.ts";
import { changeObject, checkNames, isEmpty, type Target } from "./update-object.ts";
import type { WriteOptions } from "./write-options.ts";

export type PatchType = "json" | "merge" | "strategic";

/**
 * Patches an object in one of the three ways that are no apply.
 *
 * @throws {StatusError} 400, 404, 409, 422 or 500
 */
export function patchObject(
  cluster: Cluster,
  target: Target,
  type: PatchType,
  patch: Json,
  options: WriteOptions,
): Written {
  const { resource, namespace, name } = target;
  const stored = cluster.store.get({ resource: resource.key, namespace, name });
  if (stored === undefined) throw notFound(resource, name);
  const kept = parseKept(resource, stored);
  const before = convertObject(kept, resource.storage, resource);
  const patched = patchedObject(before, type, patch, resource.schema());
  const { object, warnings } = decodePatched(patched, patch, type, resource, options);
  checkNames(object, target, "patch");
  const { uid } = metadataOf(object);
  if (!isEmpty(uid) && uid !== metadataOf(kept)["uid"]) {
    throw invalid(resource, name, [invalidValue("metadata.uid", uid ?? "", "field is immutable")]);
  }
  const written = changeObject(cluster, target, kept, object, options);
  return { ...written, warnings: [...warnings, ...written.warnings] };
}

export function patchedObject(before: ApiObject, type: PatchType, patch: Json, schema: TypeSchema): ApiObject {
  switch (type) {
    case "json":
      return jsonPatch(before, patch);
    case "merge":
      return mergePatch(before, patch);
    case "strategic":
      return strategicMergePatch(before, patch, schema);
  }
}

/** What Go's decoder says of the patched object: another kind or a wrong type is 422, unknown fields are by option. */
function decodePatched(
  patched: ApiObject,
  patch: Json,
  type: PatchType,
  resource: Resource,
  { fieldValidation }: WriteOptions,
): { readonly object: ApiObject; readonly warnings: readonly string[] } {
  const json = JSON.stringify(topSorted(patched));
  const shown = type === "strategic" ? goText(patch) : json;
  if (patched["kind"] !== resource.kind || patched["apiVersion"] !== apiVersionOf(resource)) {
    const { apiVersion, kind } = patched;
    throw invalidPatch(
      shown,
      `no kind "${plainText(kind)}" is registered for version "${plainText(apiVersion)}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const wrongType = typeErrorOf(patched, resource);
  if (wrongType !== undefined) throw invalidPatch(shown, wrongType);
  const unknown = fieldValidation === "Ignore" ? [] : unknownFields(json, resource);
  if (fieldValidation === "Strict" && unknown.length > 0) {
    throw invalidPatch(shown, `strict decoding error: ${unknown.join(", ")}`);
  }
  try {
    return { object: canonicalObject(patched, resource, resource.schema()), warnings: unknown };
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw invalidPatch(shown, error.message);
  }
}

function invalidPatch(shown: string, problem: string): Error {
  return invalid({ group: "", kind: "" }, "", [invalidValue("patch", shown, problem)]);
}

/** The order of the document that Go prints: its top level is a sorted map. */
function topSorted(object: ApiObject): ApiObject {
  const sorted = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return isJsonObject(object) ? Object.fromEntries(sorted) : object;
}
