import { invalidValue, notSupported, required } from "../../core/field-errors.ts";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import { itemsOf, objectOf, objectsOf, textOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none } from "./checks.ts";
import { dnsSubdomain, pathSegmentName } from "./name-rules.ts";
import { selectorErrors } from "./selectors.ts";

const rbacGroup = "rbac.authorization.k8s.io";

/** RBAC: rules of a Role or ClusterRole. */
export function roleErrors(role: JsonObject, namespaced: boolean): Errors {
  return [
    ...each(objectsOf(role, "rules"), "rules", (rule, path) => ruleErrors(rule, path, namespaced)),
    ...aggregationErrors(objectOf(role, "aggregationRule")),
  ];
}

function aggregationErrors(rule: JsonObject | undefined): Errors {
  if (rule === undefined) return none;
  const path = "aggregationRule.clusterRoleSelectors";
  const selectors = objectsOf(rule, "clusterRoleSelectors");
  if (selectors.length > 0) return each(selectors, path, selectorErrors);
  return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
}

function ruleErrors(rule: JsonObject, path: string, namespaced: boolean): Errors {
  const has = (field: string): boolean => itemsOf(rule, field).length > 0;
  const verbs = has("verbs") ? none : [required(`${path}.verbs`, "verbs must contain at least one value")];
  if (has("nonResourceURLs")) {
    const urls = rule["nonResourceURLs"];
    const field = `${path}.nonResourceURLs`;
    return [
      ...verbs,
      ...(namespaced ? [invalidValue(field, urls, "namespaced rules cannot apply to non-resource URLs")] : none),
      ...(has("apiGroups") || has("resources") || has("resourceNames")
        ? [invalidValue(field, urls, "rules cannot apply to both regular resources and non-resource URLs")]
        : none),
    ];
  }
  return [
    ...verbs,
    ...(has("apiGroups") ? none : [required(`${path}.apiGroups`, "resource rules must supply at least one api group")]),
    ...(has("resources") ? none : [required(`${path}.resources`, "resource rules must supply at least one resource")]),
  ];
}

/** RBAC: the role that a binding grants and whom it grants it to. */
export function bindingErrors(binding: JsonObject, namespaced: boolean): Errors {
  const ref = objectOf(binding, "roleRef");
  const [group, kind, name] = [textOf(ref, "apiGroup"), textOf(ref, "kind"), textOf(ref, "name")];
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...(group === rbacGroup ? none : [notSupported("roleRef.apiGroup", group, [rbacGroup])]),
    ...(kinds.includes(kind) ? none : [notSupported("roleRef.kind", kind, kinds)]),
    ...(name === "" ? [required("roleRef.name")] : named("roleRef.name", name, pathSegmentName)),
    ...each(objectsOf(binding, "subjects"), "subjects", (subject, path) => subjectErrors(subject, path, namespaced)),
  ];
}

/** A ServiceAccount without a namespace is one of the binding's own. */
function subjectErrors(subject: JsonObject, path: string, namespaced: boolean): Errors {
  const [kind, name, group] = [textOf(subject, "kind"), textOf(subject, "name"), textOf(subject, "apiGroup")];
  const missingName = name === "" ? [required(`${path}.name`)] : none;
  switch (kind) {
    case "ServiceAccount":
      return [
        ...missingName,
        ...(name === "" ? none : named(`${path}.name`, name, dnsSubdomain)),
        ...(group === "" ? none : [notSupported(`${path}.apiGroup`, group, [""])]),
        ...(textOf(subject, "namespace") === "" && !namespaced ? [required(`${path}.namespace`)] : none),
      ];
    case "User":
    case "Group":
      return [...missingName, ...(group === rbacGroup ? none : [notSupported(`${path}.apiGroup`, group, [rbacGroup])])];
    default:
      return [...missingName, notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"])];
  }
}

export function bindingUpdateErrors(binding: JsonObject, old: JsonObject): Errors {
  const ref = objectOf(binding, "roleRef");
  if (canonicalJson(ref) === canonicalJson(objectOf(old, "roleRef"))) return none;
  const printed = { APIGroup: textOf(ref, "apiGroup"), Kind: textOf(ref, "kind"), Name: textOf(ref, "name") };
  return [invalidValue("roleRef", printed, "cannot change roleRef")];
}
