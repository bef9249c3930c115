import type { Field, FieldType, Message } from "./read-message.ts";

function one(name: string, type: FieldType = "string"): Field {
  return { name, type };
}

function many(name: string, type: FieldType = "string"): Field {
  return { name, type, isList: true };
}

const ownerReference: Message = {
  1: one("kind"),
  3: one("name"),
  4: one("uid"),
  5: one("apiVersion"),
  6: one("controller", "boolean"),
  7: one("blockOwnerDeletion", "boolean"),
};

const objectMeta: Message = {
  1: one("name"),
  2: one("generateName"),
  3: one("namespace"),
  5: one("uid"),
  6: one("resourceVersion"),
  7: one("generation", "integer"),
  8: one("creationTimestamp", "time"),
  9: one("deletionTimestamp", "time"),
  10: one("deletionGracePeriodSeconds", "integer"),
  11: one("labels", { map: "string" }),
  12: one("annotations", { map: "string" }),
  13: many("ownerReferences", { message: ownerReference }),
  14: many("finalizers"),
};

const metadata = one("metadata", { message: objectMeta });
const objectReference: Message = {
  1: one("kind"),
  2: one("namespace"),
  3: one("name"),
  4: one("uid"),
  5: one("apiVersion"),
};
const policyRule: Message = {
  1: many("verbs"),
  2: many("apiGroups"),
  3: many("resources"),
  4: many("resourceNames"),
  5: many("nonResourceURLs"),
};
const subject: Message = { 1: one("kind"), 2: one("apiGroup"), 3: one("name"), 4: one("namespace") };
const roleRef: Message = { 1: one("apiGroup"), 2: one("kind"), 3: one("name") };
const role: Message = { 1: metadata, 2: many("rules", { message: policyRule }) };
const binding: Message = {
  1: metadata,
  2: many("subjects", { message: subject }),
  3: one("roleRef", { message: roleRef }),
};
const resourceAttributes: Message = {
  1: one("namespace"),
  2: one("verb"),
  3: one("group"),
  4: one("version"),
  5: one("resource"),
  6: one("subresource"),
  7: one("name"),
};
const accessReviewSpec: Message = {
  1: one("resourceAttributes", { message: resourceAttributes }),
  2: one("nonResourceAttributes", { message: { 1: one("path"), 2: one("verb") } }),
};

/** The kinds that kubectl sends in protobuf and that are read, by `apiVersion/Kind`: small ones, from `generated.proto`. */
export const messages: Readonly<Record<string, Message>> = {
  "v1/ConfigMap": {
    1: metadata,
    2: one("data", { map: "string" }),
    3: one("binaryData", { map: "bytes" }),
    4: one("immutable", "boolean"),
  },
  "v1/Namespace": { 1: metadata, 2: one("spec", { message: { 1: many("finalizers") } }) },
  "v1/Secret": {
    1: metadata,
    2: one("data", { map: "bytes" }),
    3: one("type"),
    4: one("stringData", { map: "string" }),
    5: one("immutable", "boolean"),
  },
  "v1/ServiceAccount": {
    1: metadata,
    2: many("secrets", { message: objectReference }),
    3: many("imagePullSecrets", { message: { 1: one("name") } }),
    4: one("automountServiceAccountToken", "boolean"),
  },
  "rbac.authorization.k8s.io/v1/ClusterRole": role,
  "rbac.authorization.k8s.io/v1/Role": role,
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": binding,
  "rbac.authorization.k8s.io/v1/RoleBinding": binding,
  "authorization.k8s.io/v1/SelfSubjectAccessReview": { 1: metadata, 2: one("spec", { message: accessReviewSpec }) },
  "authorization.k8s.io/v1/SelfSubjectRulesReview": {
    1: metadata,
    2: one("spec", { message: { 1: one("namespace") } }),
  },
  "authentication.k8s.io/v1/SelfSubjectReview": { 1: metadata },
};
