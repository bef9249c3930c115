import fc from "fast-check";

const step = fc.constantFrom(
  "api",
  "apis",
  "v1",
  "v2",
  "apps",
  "autoscaling",
  "namespaces",
  "default",
  "configmaps",
  "deployments",
  "pods",
  "services",
  "status",
  "scale",
  "watch",
  "finalize",
  "openapi",
  "v3",
  "version",
  "healthz",
  "a",
  "b",
  "..",
  "%2e",
  "%",
  "%zz",
  "%00",
  "",
  "__proto__",
  "constructor",
  "toString",
  "log",
  "customresourcedefinitions",
  "apiextensions.k8s.io",
  "events",
  "access",
);
const queryName = fc.constantFrom(
  "labelSelector",
  "fieldSelector",
  "limit",
  "continue",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "timeoutSeconds",
  "dryRun",
  "fieldManager",
  "fieldValidation",
  "force",
  "includeObject",
  "pretty",
  "propagationPolicy",
  "gracePeriodSeconds",
);
const queryValue = fc.oneof(
  fc.string(),
  fc.constantFrom(
    "true",
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "All",
    "Strict",
    "a in (b",
    "!a",
    "metadata.name=",
    "constructor=1",
    "e30",
    "NotOlderThan",
  ),
);
/** A path with its query, legal or odd. */
export const path = fc
  .tuple(fc.array(step, { maxLength: 8 }), fc.array(fc.tuple(queryName, queryValue), { maxLength: 3 }))
  .map(([steps, query]) => {
    const asked = query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join("&");
    return `/${steps.join("/")}${asked === "" ? "" : `?${asked}`}`;
  });
export const contentType = fc.constantFrom(
  "application/json",
  "application/yaml",
  "application/apply-patch+yaml",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "text/plain",
  "application/vnd.kubernetes.protobuf",
  "",
);
export const accept = fc.constantFrom(
  "application/json",
  "application/yaml",
  "*/*",
  "",
  "text/html",
  ";;;,,,",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  "application/vnd.kubernetes.protobuf,application/json",
);
/** JSON, or what is none. */
export const jsonish = fc.oneof(fc.json({ maxDepth: 4 }), fc.string());

const field = fc.constantFrom(
  "metadata",
  "name",
  "namespace",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "uid",
  "spec",
  "data",
  "replicas",
  "template",
  "containers",
  "image",
  "ports",
  "containerPort",
  "selector",
  "matchLabels",
  "resourceVersion",
  "generateName",
  "kind",
  "apiVersion",
  "$patch",
  "$setElementOrder/containers",
  "$retainKeys",
  "__proto__",
  "constructor",
  "status",
  "conditions",
  "type",
  "strategy",
  "clusterIP",
  "versions",
  "schema",
  "openAPIV3Schema",
  "names",
  "plural",
  "group",
  "scope",
  "x-kubernetes-validations",
  "rule",
);
/** What a body may be, of the field names that the server knows and some that it must not trip over. */
export const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      1e300,
      "",
      "a",
      "v1",
      "Deployment",
      "100m",
      "replace",
      "delete",
      "{}",
      "self.x",
    ),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(field, tie("tree"), { maxKeys: 6 }),
  ),
}));
const core = "/api/v1/namespaces/default";
const apps = "/apis/apps/v1/namespaces/default";
const autoscaling = "/apis/autoscaling/v1/namespaces/default";

/** An object `a` of a collection, and what its body must say for the server to look further. */
function within(list: string, apiVersion: string, kind: string, subresource = "") {
  return { path: `${list}/a${subresource}`, list, identity: { apiVersion, kind } };
}

/** What a body of any shape is sent to. */
export const target = fc.constantFrom(
  within(`${core}/configmaps`, "v1", "ConfigMap"),
  within(`${apps}/deployments`, "apps/v1", "Deployment"),
  within(`${apps}/deployments`, "apps/v1", "Deployment", "/status"),
  within(`${apps}/deployments`, "autoscaling/v1", "Scale", "/scale"),
  within(`${core}/services`, "v1", "Service"),
  within(`${autoscaling}/horizontalpodautoscalers`, "autoscaling/v1", "HorizontalPodAutoscaler"),
  {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b.c",
    list: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    identity: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
  },
  within(`${core}/pods`, "v1", "Pod"),
  {
    path: `${core}/events/a`,
    list: "/apis/events.k8s.io/v1/namespaces/default/events",
    identity: { apiVersion: "v1", kind: "Event" },
  },
);
