import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { canonicalObject } from "../../../src/rules/canonical-object.ts";
import { defaultObject } from "../../../src/rules/default-object.ts";
import { builtinSchema } from "../../../src/schema/builtin-schema.ts";
import { crdSchema } from "../../../src/schema/crd-schema.ts";

function stored(group: string, version: string, kind: string, object: JsonObject): JsonObject {
  const gvk = { group, version, kind };
  const schema = builtinSchema(gvk);
  if (schema === undefined) throw new Error(`${kind} is no built-in kind`);
  return defaultObject(canonicalObject(object, gvk, schema), gvk, schema);
}

const container = { name: "app", image: "example.test/app:1" };
const pod = { metadata: { labels: { app: "a" } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: "a" } };

const examples: readonly {
  readonly name: string;
  readonly gvk: readonly [string, string, string];
  readonly object: JsonObject;
  readonly fields: JsonObject;
}[] = [
  {
    name: "a Deployment rolls",
    gvk: ["apps", "v1", "Deployment"],
    object: { metadata: { name: "a" }, spec: { selector, template: pod } },
    fields: {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    },
  },
  {
    name: "a DaemonSet replaces one Pod at a time",
    gvk: ["apps", "v1", "DaemonSet"],
    object: { metadata: { name: "a" }, spec: { selector, template: pod } },
    fields: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
  },
  {
    name: "a Job runs once",
    gvk: ["batch", "v1", "Job"],
    object: { metadata: { name: "a" }, spec: { template: pod } },
    fields: { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false },
  },
  {
    name: "a Service port points to the same port",
    gvk: ["", "v1", "Service"],
    object: { metadata: { name: "a" }, spec: { type: "NodePort", ports: [{ port: 80 }] } },
    fields: {
      type: "NodePort",
      sessionAffinity: "None",
      externalTrafficPolicy: "Cluster",
      internalTrafficPolicy: "Cluster",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    },
  },
  {
    name: "a NetworkPolicy with egress rules is of both types",
    gvk: ["networking.k8s.io", "v1", "NetworkPolicy"],
    object: { metadata: { name: "a" }, spec: { podSelector: {}, egress: [{}] } },
    fields: { policyTypes: ["Ingress", "Egress"] },
  },
  {
    name: "an autoscaler without metrics looks at the CPU",
    gvk: ["autoscaling", "v2", "HorizontalPodAutoscaler"],
    object: { metadata: { name: "a" }, spec: { scaleTargetRef: { kind: "Deployment", name: "a" }, maxReplicas: 3 } },
    fields: {
      minReplicas: 1,
      metrics: [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
      ],
    },
  },
  {
    name: "limits stand in for default requests",
    gvk: ["", "v1", "LimitRange"],
    object: { metadata: { name: "a" }, spec: { limits: [{ type: "Container", max: { cpu: "2000m" } }] } },
    fields: {
      limits: [{ type: "Container", max: { cpu: "2" }, default: { cpu: "2" }, defaultRequest: { cpu: "2" } }],
    },
  },
];

describe("defaults of built-in kinds", () => {
  test.each(examples)("$name", ({ gvk, object, fields }) => {
    expect(stored(...gvk, object)).toMatchObject({ spec: fields });
  });

  test.each(examples)("are not added twice: $name", ({ gvk, object }) => {
    const once = stored(...gvk, object);
    expect(stored(...gvk, once)).toEqual(once);
  });

  test.each([
    ["example.test/app:1", "IfNotPresent"],
    ["example.test/app", "Always"],
    ["example.test:5000/app", "Always"],
    ["example.test/app:latest", "Always"],
    [`example.test/app@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  ])("the image %s has the pull policy %s", (image, imagePullPolicy) => {
    const object = stored("", "v1", "Pod", { metadata: { name: "a" }, spec: { containers: [{ name: "app", image }] } });
    expect(object).toMatchObject({ spec: { containers: [{ imagePullPolicy }] } });
  });

  test("a Secret is Opaque, and a role without rules has an empty list", () => {
    expect(stored("", "v1", "Secret", { metadata: { name: "a" } })).toMatchObject({ type: "Opaque" });
    expect(stored("rbac.authorization.k8s.io", "v1", "Role", { metadata: { name: "a" } })).toMatchObject({
      rules: null,
    });
  });
});

describe("the canonical form of built-in kinds", () => {
  test("empty optional values are dropped, pointers to false and empty objects stay, unknown fields are dropped", () => {
    const spec = {
      selector,
      replicas: 0,
      paused: false,
      extra: 1,
      template: {
        metadata: { labels: { app: "a" }, annotations: {} },
        spec: {
          hostNetwork: false,
          automountServiceAccountToken: false,
          securityContext: {},
          volumes: [],
          containers: [{ ...container, env: [{ name: "A", value: "" }], stdin: false }],
        },
      },
    };
    const object = stored("apps", "v1", "Deployment", { metadata: { name: "a" }, spec });
    expect(object).toMatchObject({
      spec: { replicas: 0, template: { spec: { automountServiceAccountToken: false, securityContext: {} } } },
    });
    const text = JSON.stringify(object);
    for (const gone of ["extra", "paused", "hostNetwork", "volumes", "stdin", "annotations", '"value"']) {
      expect(text).not.toContain(gone);
    }
  });

  test("null in a map of strings becomes the empty string", () => {
    const object = stored("", "v1", "ConfigMap", { metadata: { name: "a" }, data: { k: null } });
    expect(object["data"]).toEqual({ k: "" });
  });
});

describe("custom resources", () => {
  const schema = crdSchema({
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          mode: { type: "string", default: "a" },
          open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        },
      },
    },
  });
  const gvk = { group: "example.com", version: "v1", kind: "Widget" };

  test("get the defaults of their schema, for null too, and lose unknown fields", () => {
    const object = {
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
      spec: { mode: null, extra: 1, open: { any: [1] } },
    };
    const kept = defaultObject(canonicalObject(object, gvk, schema), gvk, schema);
    expect(kept).toEqual({ ...object, spec: { mode: "a", open: { any: [1] } } });
  });
});
