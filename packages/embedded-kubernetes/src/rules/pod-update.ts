import type { FieldError } from "../core/api-object.ts";
import { forbidden } from "../core/field-errors.ts";
import { canonicalJson, type Json, type JsonObject } from "../core/json.ts";
import { isList, itemsOf, mapItems, objectsOf, without } from "../core/json-fields.ts";

const mutable = ["activeDeadlineSeconds", "tolerations", "schedulingGates"];

/**
 * What may change in a Pod: images, the deadline, further tolerations. `difference` prints the rest as the server does.
 */
export function podUpdateErrors(
  spec: JsonObject,
  before: JsonObject,
  difference: (spec: JsonObject, before: JsonObject) => string,
): readonly FieldError[] {
  const counts = ["containers", "initContainers"].filter(
    (field) => itemsOf(spec, field).length !== itemsOf(before, field).length,
  );
  if (counts.length > 0) {
    return counts.map((field) => forbidden(`spec.${field}`, "pod updates may not add or remove containers"));
  }
  const munged = withImagesOf(spec, before);
  const tolerations = tolerationErrors(spec, before);
  const isSame = canonicalJson(without(munged, ...mutable)) === canonicalJson(without(before, ...mutable));
  if (isSame) return tolerations;
  return [
    ...tolerations,
    forbidden(
      "spec",
      "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n" +
        difference(munged, before),
    ),
  ];
}

function withImagesOf(spec: JsonObject, before: JsonObject): JsonObject {
  const withImages = ["containers", "initContainers"].reduce((result, field) => {
    const former = objectsOf(before, field);
    let index = -1;
    return mapItems(result, field, (container) => {
      index += 1;
      const image = former[index]?.["image"];
      return image === undefined ? container : { ...container, image };
    });
  }, spec);
  return mutable.reduce<JsonObject>((result, field) => withValue(result, field, before[field]), withImages);
}

function withValue(object: JsonObject, field: string, value: Json | undefined): JsonObject {
  return value === undefined ? without(object, field) : { ...object, [field]: value };
}

function tolerationErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  const now = isList(spec["tolerations"]) ? spec["tolerations"].map((item) => canonicalJson(item)) : [];
  const isReduced = itemsOf(before, "tolerations").some((item) => !now.includes(canonicalJson(item)));
  return isReduced
    ? [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")]
    : [];
}
