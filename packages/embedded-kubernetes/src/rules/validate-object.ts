import type { ApiObject, FieldError, Gvk } from "../core/api-object.ts";
import { objectOf, textOf } from "../core/json-fields.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { type KindRules, kindRules } from "./kind-rules.ts";
import { commonUpdateErrors, metadataErrors, metadataUpdateErrors } from "./validation/metadata.ts";
import { dnsSubdomain } from "./validation/name-rules.ts";

/**
 * Errors of a built-in kind in the order of a real API server, of an update when `old` is given. `object` is canonical,
 * has its defaults and its namespace if the kind has one.
 */
export function validateObject(
  object: ApiObject,
  gvk: Gvk,
  _schema: TypeSchema,
  old: ApiObject | undefined,
  subresource?: string,
): readonly FieldError[] {
  const namespaced = textOf(objectOf(object, "metadata"), "namespace") !== "";
  const rules = kindRules[`${gvk.group}/${gvk.kind}`] ?? {};
  if (old === undefined) return createErrors(object, rules, namespaced);
  const common = commonUpdateErrors(object, old, namespaced);
  if (subresource === "status") {
    return [...common, ...metadataUpdateErrors(object, old), ...(rules.status?.(object, old) ?? [])];
  }
  return [...common, ...updateErrors(object, old, rules, namespaced)];
}

function createErrors(object: ApiObject, rules: KindRules, namespaced: boolean): readonly FieldError[] {
  return [
    ...metadataErrors(object, namespaced, rules.name ?? dnsSubdomain),
    ...(rules.body?.(object, namespaced) ?? []),
  ];
}

function updateErrors(object: ApiObject, old: ApiObject, rules: KindRules, namespaced: boolean): readonly FieldError[] {
  const own = rules.update?.(object, old, namespaced) ?? [];
  const meta = metadataUpdateErrors(object, old);
  const body = (): readonly FieldError[] => rules.body?.(object, namespaced) ?? [];
  const { onUpdate = "body" } = rules;
  if (onUpdate === "twice" || onUpdate === "before") {
    return [...createErrors(object, rules, namespaced), ...meta, ...(onUpdate === "twice" ? body() : []), ...own];
  }
  const whole = onUpdate === "none" ? [] : onUpdate === "whole" ? createErrors(object, rules, namespaced) : body();
  return rules.updateFirst === true ? [...meta, ...own, ...whole] : [...meta, ...whole, ...own];
}
