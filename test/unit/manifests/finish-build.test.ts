import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { finishBuild } from "../../../lib/manifests/finish-build.ts";
import { normalise } from "../../../lib/manifests/normalise.ts";
import { owner } from "./build-files.ts";

const certificate = readFileSync(join(import.meta.dirname, "../../fixtures/tls/client.crt"));

function object(apiVersion: string, kind: string, rest: JsonObject = {}): JsonObject {
  return { apiVersion, kind, metadata: { name: "x" }, ...rest };
}

describe("normalisation", () => {
  const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }];
  const settled = [
    { containerPort: 80, protocol: "TCP" },
    { containerPort: 53, protocol: "UDP" },
  ];
  const pod = (list: JsonObject[]): JsonObject => ({
    containers: [{ name: "c", ports: list }],
    initContainers: [{ ports: list }, {}],
  });
  const template = (list: JsonObject[]): JsonObject => ({ template: { spec: pod(list) } });
  const typed = (list: JsonObject[]): JsonObject => ({
    containers: [{ name: "c", ports: list, resources: {} }],
    initContainers: [{ ports: list, resources: {} }, { resources: {} }],
  });
  const typedTemplate = (list: JsonObject[]): JsonObject => ({ template: { metadata: {}, spec: typed(list) } });
  test.each([
    {
      name: "a Pod",
      before: object("v1", "Pod", { spec: pod(ports) }),
      after: object("v1", "Pod", { spec: typed(settled) }),
    },
    {
      name: "a Deployment",
      before: object("apps/v1", "Deployment", { spec: template(ports) }),
      after: object("apps/v1", "Deployment", { spec: { strategy: {}, ...typedTemplate(settled) } }),
    },
    {
      name: "a CronJob",
      before: object("batch/v1", "CronJob", { spec: { jobTemplate: { spec: template(ports) } } }),
      after: object("batch/v1", "CronJob", {
        spec: { jobTemplate: { metadata: {}, spec: typedTemplate(settled) } },
      }),
    },
    {
      name: "a Service",
      before: object("v1", "Service", { spec: { ports: [{ port: 80 }] } }),
      after: object("v1", "Service", { spec: { ports: [{ port: 80, protocol: "TCP" }] } }),
    },
    {
      name: "another group's Deployment",
      before: object("x.test/v1", "Deployment", { spec: template(ports) }),
      after: object("x.test/v1", "Deployment", { spec: template(ports) }),
    },
  ])("sets the protocol of ports in $name (88)", ({ before, after }) => {
    expect(normalise(before)).toEqual(after);
  });

  test.each([
    ["apps/v1 Deployment", { strategy: {} }],
    ["apps/v1 StatefulSet", { updateStrategy: {} }],
    ["apps/v1 DaemonSet", { updateStrategy: {} }],
    ["apps/v1 ReplicaSet", {}],
    ["batch/v1 Job", {}],
    ["example.com/v1 Deployment", undefined],
  ] as const)("treats the Pods of a %s like a Pod, and no others", (kind, own) => {
    const [apiVersion = "", name = ""] = kind.split(" ");
    const before = object(apiVersion, name, { spec: template(ports) });
    const after =
      own === undefined ? before : object(apiVersion, name, { spec: { ...own, ...typedTemplate(settled) } });
    expect(normalise(before)).toEqual(after);
    expect(normalise(after)).toEqual(after);
  });

  test.each([
    { kind: "v1 Namespace", before: {}, after: { spec: {} } },
    { kind: "v1 PersistentVolumeClaim", before: { spec: {} }, after: { spec: { resources: {} } } },
    { kind: "apps/v1 DaemonSet", before: { spec: {} }, after: { spec: { updateStrategy: {} } } },
    {
      kind: "apps/v1 StatefulSet",
      before: { spec: { updateStrategy: { type: "OnDelete" }, template: { metadata: null } } },
      after: { spec: { updateStrategy: { type: "OnDelete" }, template: { metadata: {} } } },
    },
    { kind: "v1 ConfigMap", before: {}, after: {} },
  ])("writes for a $kind the fields that Go's types write even if they are empty", ({ kind, before, after }) => {
    const [apiVersion = "", name = ""] = kind.split(" ");
    expect(normalise(object(apiVersion, name, before))).toEqual(object(apiVersion, name, after));
  });

  test.each([
    { name: "text that is not base64 is removed", caBundle: "invalid-cert-data", stays: false },
    { name: "base64 that is not a certificate is removed", caBundle: "Cg==", stays: false },
    { name: "a certificate stays", caBundle: certificate.toString("base64"), stays: true },
    { name: "is empty is kept, because the API server accepts it", caBundle: "", stays: true },
  ])("changes a definition's caBundle that $name (87)", ({ caBundle, stays }) => {
    const url = "https://convert.example.test";
    const definition = (clientConfig: JsonObject): JsonObject =>
      object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
        spec: { conversion: { strategy: "Webhook", webhook: { clientConfig } } },
      });
    expect(normalise(definition({ url, caBundle }))).toEqual(definition(stays ? { url, caBundle } : { url }));
  });

  test("merges stringData of a Secret into data, and stringData wins", () => {
    const secret = object("v1", "Secret", { data: { a: "YQ==", b: "Yg==" }, stringData: { b: "é", c: "" } });
    expect(normalise(secret)).toEqual(object("v1", "Secret", { data: { a: "YQ==", b: "w6k=", c: "" } }));
  });

  test("removes status and creationTimestamp, but keeps the status of a definition and all fields of a role", () => {
    const dated: JsonObject = { metadata: { name: "x", creationTimestamp: null }, status: { a: 1 } };
    expect(normalise(object("v1", "ConfigMap", dated))).toEqual(object("v1", "ConfigMap"));
    const definition = object("apiextensions.k8s.io/v1", "CustomResourceDefinition", dated);
    expect(normalise(definition)).toEqual({ ...definition, metadata: { name: "x" } });
    const role = object("rbac.authorization.k8s.io/v1", "Role", dated);
    expect(normalise(role)).toEqual(role);
  });

  test("removes an empty list of managed fields, which the API server would refuse, and leaves any other to be refused", () => {
    const managed = (fields: JsonObject[]) =>
      object("v1", "ConfigMap", { metadata: { name: "x", managedFields: fields } });
    expect(normalise(managed([]))).toEqual(object("v1", "ConfigMap"));
    expect(normalise(managed([{ manager: "kubectl" }]))).toEqual(managed([{ manager: "kubectl" }]));
  });
});

describe("after the build", () => {
  test("lists are expanded and kustomizations dropped", () => {
    const list = {
      apiVersion: "v1",
      kind: "ThingList",
      metadata: {},
      items: [object("v1", "ConfigMap"), object("v1", "Secret")],
    };
    const own = object("kustomize.config.k8s.io/v1beta1", "Kustomization");
    const flux = object("kustomize.toolkit.fluxcd.io/v1", "Kustomization");
    expect(finishBuild([list, own, flux], owner).map(({ kind }) => kind)).toEqual([
      "ConfigMap",
      "Secret",
      "Kustomization",
    ]);
  });
});

test("a label that is not text is kept, and so are the others", () => {
  const metadata = { name: "x", labels: { odd: true, even: "yes" } };
  const [built] = finishBuild([{ apiVersion: "v1", kind: "ConfigMap", metadata }], owner);
  expect(built?.metadata.labels).toMatchObject(metadata.labels);
});
