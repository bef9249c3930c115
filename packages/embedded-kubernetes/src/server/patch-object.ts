import { type ApiObject, parseApiVersion } from "../core/api-object.ts";
import { ConversionError } from "../core/conversion-error.ts";
import { invalidValue } from "../core/field-errors.ts";
import { formatJson, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { goText } from "../fields/go-print.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { canonicalObject } from "../rules/canonical-object.ts";
import { invalid } from "../rules/invalid.ts";
import { builtinSchema } from "../schema/builtin-schema.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { type Cluster, metadataOf, parseKept } from "./cluster.ts";
import { convertObject } from "./convert-object.ts";
import type { Written } from "./create-object.ts";
import { decodedObject, typeErrorOf, unknownFields } from "./decode-object.ts";
import { notFound } from "./errors.ts";
import { printedObject, touchedBy } from "./printed-object.ts";
import { restoredText, restoreError } from "./restore-error.ts";
import { changeObject, checkNames, immutableUid, isEmpty, type Target } from "./update-object.ts";
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
  checkNames(object, target, "replace");
  const { uid } = metadataOf(object);
  if (!isEmpty(uid) && uid !== metadataOf(kept)["uid"]) {
    throw immutableUid(resource, name, uid);
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
  // A custom resource has no structs: all of it is a map.
  const isTouched = resource.custom === undefined ? touchedBy(patch) : () => true;
  const json = formatJson(printedObject(patched, resource.schema(), isTouched));
  const shown = type === "strategic" ? goText(patch) : json;
  const identified = withIdentity(patched, resource);
  const isOther = identified["kind"] !== resource.kind || identified["apiVersion"] !== apiVersionOf(resource);
  // A strategic merge patch is merged into a value of the type, whatever it calls itself.
  if (isOther && type !== "strategic") throw invalidPatch(shown, wrongKind(identified));
  const wrongType = type === "strategic" ? restoreError(patched, resource.schema()) : typeErrorOf(patched, resource);
  if (wrongType !== undefined) throw invalidPatch(shown, wrongType);
  const unknown = fieldValidation === "Ignore" ? [] : unknownFields(json, resource);
  if (fieldValidation === "Strict" && unknown.length > 0) {
    throw invalidPatch(shown, `strict decoding error: ${unknown.join(", ")}`);
  }
  try {
    const { kind } = resource;
    const typed = { ...identified, apiVersion: apiVersionOf(resource), kind };
    return { object: decodedObject(typed, resource), warnings: unknown };
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw invalidPatch(shown, type === "strategic" ? restoredText(error.message) : error.message);
  }
}

/** Go's decoder takes what does not say its kind for what is asked for. */
function withIdentity(patched: ApiObject, resource: Resource): ApiObject {
  if (resource.custom !== undefined) return patched;
  const { apiVersion, kind } = patched;
  return {
    ...patched,
    apiVersion: isEmpty(apiVersion) ? apiVersionOf(resource) : (apiVersion ?? null),
    kind: isEmpty(kind) ? resource.kind : (kind ?? null),
  };
}

/** Another kind that the server knows is first decoded as such, which can fail earlier. */
function wrongKind(patched: ApiObject): string {
  const apiVersion = plainText(patched["apiVersion"]);
  const kind = plainText(patched["kind"]);
  const gvk = { ...parseApiVersion(apiVersion), kind };
  const schema = builtinSchema(gvk);
  try {
    if (schema !== undefined) canonicalObject(patched, gvk, schema);
  } catch (error) {
    if (error instanceof ConversionError) return error.message;
    throw error;
  }
  return `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
}

function invalidPatch(shown: string, problem: string): Error {
  return invalid({ group: "", kind: "" }, "", [invalidValue("patch", shown, problem)]);
}
