import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { ApiError, type Applied } from "../../../lib/core/ports/cluster.ts";
import type { TargetCluster } from "../../../lib/core/ports/home-and-target.ts";
import { tolerantCluster } from "../../../lib/manifests/tolerant-cluster.ts";
import { withoutUndeclared } from "../../../lib/manifests/undeclared-fields.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const signal = new AbortController().signal;
const failed = "failed to create typed patch object (ns/a; apps/v1, Kind=Deployment): ";

describe("fields that an API server reports as undeclared", () => {
  const object = {
    extra: 1,
    "a.b[c]": 1,
    spec: {
      containers: [
        { name: "web", colour: "red", ports: [{ containerPort: 80, speed: 1 }] },
        { name: "x", colour: "blue" },
      ],
    },
    rules: [{ a: 1 }, { odd: 2 }],
  };
  test.each([
    { path: ".extra", gone: { extra: undefined } },
    { path: ".a.b[c]", gone: { "a.b[c]": undefined } },
    { path: ".rules[1].odd", gone: { rules: [{ a: 1 }, {}] } },
    {
      path: '.spec.containers[name="x"].colour',
      gone: { spec: { containers: [object.spec.containers[0], { name: "x" }] } },
    },
    {
      path: '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].speed',
      gone: {
        spec: {
          containers: [{ name: "web", colour: "red", ports: [{ containerPort: 80 }] }, object.spec.containers[1]],
        },
      },
    },
  ])("$path is removed, and nothing else", ({ path, gone }) => {
    expect(withoutUndeclared(object, `${failed}${path}: field not declared in schema`)).toEqual({ ...object, ...gone });
  });

  test("several fields are removed at once, and none if the answer names none or the object lacks it", () => {
    const several = `${failed}errors:\n  .extra: field not declared in schema\n  .rules[1].odd: field not declared in schema`;
    expect(withoutUndeclared(object, several)).toEqual({ ...object, extra: undefined, rules: [{ a: 1 }, {}] });
    expect(withoutUndeclared(object, `${failed}.absent: field not declared in schema`)).toBeUndefined();
    expect(withoutUndeclared(object, "Deployment.apps is invalid")).toBeUndefined();
  });
});

describe("a tolerant cluster", () => {
  const configMap: Manifest = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data: { a: "b" },
    extra: 1,
    more: 2,
  };

  /** A cluster with data as the only field, which names one undeclared field at a time. */
  function strict(seen: Manifest[]): TargetCluster {
    const apply = async (manifest: Manifest): Promise<Applied> => {
      seen.push(manifest);
      const odd = Object.keys(manifest).find((field) => !["apiVersion", "kind", "metadata", "data"].includes(field));
      if (odd !== undefined)
        throw new ApiError({ code: 500, reason: "", message: `${failed}.${odd}: field not declared in schema` });
      return { object: { ...manifest, metadata: { ...manifest.metadata, uid: "1" } }, created: true, warnings: [] };
    };
    const refuse = (): never => {
      throw new Error("not asked for");
    };
    return {
      role: "target",
      apply,
      uid: refuse,
      resource: refuse,
      served: refuse,
      get: refuse,
      list: refuse,
      listMetadata: refuse,
      create: refuse,
      patch: refuse,
      delete: refuse,
      watch: refuse,
    };
  }

  test("drops unknown fields of built-in kinds, as Flux does, and reports them", async () => {
    const seen: Manifest[] = [];
    const told: string[] = [];
    await tolerantCluster(strict(seen), silentLog, (_manifest, fields) => void told.push(...fields)).apply(
      configMap,
      { manager: "m", force: true },
      signal,
    );
    expect(told).toEqual([".extra", ".more"]);
    const { extra: _extra, more: _more, ...wanted } = configMap;
    expect(seen).toHaveLength(3);
    expect(seen.at(-1)).toEqual(wanted);
  });

  test.each([
    { then: "failed to convert new object (ns/a; /v1, Kind=ConfigMap) to proper version: illegal", told: ".extra" },
    { then: `${failed}.data.a: expected string, got &value.valueUnstructured{Value:1}`, told: ".extra" },
    { then: 'ConfigMap "a" is invalid: metadata.name: Invalid value', told: "is invalid" },
  ])("passes on an error about the whole object if its types do not match either: $then", async ({ then, told }) => {
    const messages = [`${failed}.extra: field not declared in schema`, then];
    const cluster = {
      ...strict([]),
      apply: async () => {
        throw new ApiError({ code: 500, reason: "", message: messages.shift() ?? "" });
      },
    };
    const applying = tolerantCluster(cluster, silentLog, () => undefined).apply(
      configMap,
      { manager: "m", force: true },
      signal,
    );
    await expect(applying).rejects.toThrow(told);
  });

  test.each([
    { apiVersion: "example.test/v1", kind: "Widget" },
    { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway" },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
  ])("passes on the error about a $kind", async (type) => {
    const seen: Manifest[] = [];
    const applying = tolerantCluster(strict(seen), silentLog, () => undefined).apply(
      { ...configMap, ...type },
      { manager: "m", force: true },
      signal,
    );
    await expect(applying).rejects.toThrow(".extra: field not declared in schema");
    expect(seen).toHaveLength(1);
  });
});
