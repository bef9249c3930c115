import type { JsonObject } from "../../../src/core/json.ts";
import { canonicalObject } from "../../../src/rules/canonical-object.ts";
import { defaultObject } from "../../../src/rules/default-object.ts";
import { validateObject } from "../../../src/rules/validate-object.ts";
import { builtinSchema } from "../../../src/schema/builtin-schema.ts";

export const kinds = {
  pod: ["", "v1", "Pod"],
  service: ["", "v1", "Service"],
  configMap: ["", "v1", "ConfigMap"],
  secret: ["", "v1", "Secret"],
  claim: ["", "v1", "PersistentVolumeClaim"],
  deployment: ["apps", "v1", "Deployment"],
  statefulSet: ["apps", "v1", "StatefulSet"],
  cronJob: ["batch", "v1", "CronJob"],
  ingress: ["networking.k8s.io", "v1", "Ingress"],
  networkPolicy: ["networking.k8s.io", "v1", "NetworkPolicy"],
  autoscaler: ["autoscaling", "v2", "HorizontalPodAutoscaler"],
  budget: ["policy", "v1", "PodDisruptionBudget"],
  role: ["rbac.authorization.k8s.io", "v1", "Role"],
  binding: ["rbac.authorization.k8s.io", "v1", "RoleBinding"],
} as const;

function prepared(group: string, version: string, kind: string, object: JsonObject): JsonObject {
  const gvk = { group, version, kind };
  const schema = builtinSchema(gvk);
  if (schema === undefined) throw new Error(`${kind} is no built-in kind`);
  return defaultObject(canonicalObject(object, gvk, schema), gvk, schema);
}

/** What is wrong with a new object, or with what an old one is to become, as `field: message`. */
export function errorsOf(
  kind: readonly [string, string, string],
  object: JsonObject,
  old?: JsonObject,
): readonly string[] {
  const [group, version, name] = kind;
  const gvk = { group, version, kind: name };
  const schema = builtinSchema(gvk) ?? {};
  const before = old === undefined ? undefined : prepared(...kind, old);
  return validateObject(prepared(...kind, object), gvk, schema, before).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}
