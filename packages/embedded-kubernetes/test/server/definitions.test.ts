import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JsonObject } from "../../src/core/json.ts";
import { silentLog } from "../../src/core/log.ts";
import { plainText } from "../../src/core/plain-text.ts";
import { type Kubernetes, startKubernetes } from "../../src/start-kubernetes.ts";
import { askKubernetes } from "./ask-kubernetes.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
let folder = "";
let kubernetes: Kubernetes;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-definitions-"));
  kubernetes = await startKubernetes({ stateFolder: folder, port: 0, controllers: false, log: silentLog });
});

afterAll(async () => {
  await kubernetes.close();
  await rm(folder, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: object, type?: string): Promise<JsonObject> =>
  askKubernetes(kubernetes, method, path, body, type);

function definition(group: string, names: JsonObject, versions: readonly JsonObject[]): object {
  const { plural } = names;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plainText(plural)}.${group}` },
    spec: { group, scope: "Namespaced", names, versions },
  };
}

function version(name: string, isStorage: boolean, spec: JsonObject = {}, more: JsonObject = {}): JsonObject {
  const openAPIV3Schema = {
    type: "object",
    properties: { spec: { type: "object", properties: spec }, status: { type: "object" } },
  };
  return { name, served: true, storage: isStorage, schema: { openAPIV3Schema }, ...more };
}

describe("a definition", () => {
  test("whose names another definition uses is established once that one is deleted", async () => {
    const versions = [version("v1", true)];
    await call(
      "POST",
      definitions,
      definition("conflict.test", { plural: "ones", kind: "One", shortNames: ["o"] }, versions),
    );
    await call("POST", definitions, definition("conflict.test", { plural: "twos", kind: "One" }, versions));
    const refused = await call("GET", `${definitions}/twos.conflict.test`);
    expect(refused).toMatchObject({
      status: {
        conditions: [
          { type: "NamesAccepted", status: "False", reason: "ListKindConflict" },
          { type: "Established", status: "False", reason: "NotAccepted" },
        ],
      },
    });
    await call("DELETE", `${definitions}/ones.conflict.test`);
    expect(await call("GET", `${definitions}/twos.conflict.test`)).toMatchObject({
      status: {
        conditions: [
          { type: "NamesAccepted", status: "True" },
          { type: "Established", status: "True" },
        ],
      },
    });
    expect(await call("GET", "/apis/conflict.test/v1/twos")).toMatchObject({ kind: "OneList", items: [] });
  });

  test("that is deleted waits for objects with finalizers", async () => {
    const path = "/apis/held.test/v1/namespaces/default/holders";
    await call(
      "POST",
      definitions,
      definition("held.test", { plural: "holders", kind: "Holder" }, [version("v1", true)]),
    );
    const metadata = { name: "a", finalizers: ["held.test/hold"] };
    await call("POST", path, { apiVersion: "held.test/v1", kind: "Holder", metadata });
    await call("DELETE", `${definitions}/holders.held.test`);
    expect(await call("GET", `${path}/a`)).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    expect(await call("GET", `${definitions}/holders.held.test`)).toMatchObject({
      metadata: { finalizers: ["customresourcecleanup.apiextensions.k8s.io"] },
    });
    await call("PATCH", `${path}/a`, { metadata: { finalizers: null } }, "application/merge-patch+json");
    expect(await call("GET", `${definitions}/holders.held.test`)).toMatchObject({ code: 404 });
    expect(await call("GET", path)).toEqual({ text: "404 page not found\n" });
  });

  test("with several versions serves each object in all of them, with defaults and pruning of the requested version", async () => {
    const first = version("v1beta1", false, { size: { type: "integer", default: 1 } });
    const second = version("v1", true, { size: { type: "integer" }, color: { type: "string" } });
    await call("POST", definitions, definition("many.test", { plural: "things", kind: "Thing" }, [first, second]));
    const body = { apiVersion: "many.test/v1beta1", kind: "Thing", metadata: { name: "a" }, spec: { nonsense: true } };
    await call("POST", "/apis/many.test/v1beta1/namespaces/default/things", body);
    expect(await call("GET", "/apis/many.test/v1/namespaces/default/things/a")).toMatchObject({
      apiVersion: "many.test/v1",
      spec: { size: 1 },
    });
    expect(await call("GET", "/apis/many.test")).toMatchObject({
      preferredVersion: { version: "v1" },
      versions: [{ version: "v1" }, { version: "v1beta1" }],
    });
  });

  test("with a status subresource keeps status and spec separate", async () => {
    const path = "/apis/apart.test/v1/namespaces/default/parts";
    const versions = [version("v1", true, { size: { type: "integer" } }, { subresources: { status: {} } })];
    await call("POST", definitions, definition("apart.test", { plural: "parts", kind: "Part" }, versions));
    const created = await call("POST", path, {
      apiVersion: "apart.test/v1",
      kind: "Part",
      metadata: { name: "a" },
      spec: { size: 1 },
      status: { lost: true },
    });
    expect(created["status"]).toBeUndefined();
    const merge = "application/merge-patch+json";
    const patched = await call("PATCH", `${path}/a/status`, { spec: { size: 2 }, status: {} }, merge);
    expect(patched).toMatchObject({ metadata: { generation: 1 }, spec: { size: 1 }, status: {} });
  });
});
