import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject } from "../../src/core/json.ts";
import { plainText } from "../../src/core/plain-text.ts";
import { type Kubernetes, startKubernetes } from "../../src/start-kubernetes.ts";
import { askKubernetes } from "./ask-kubernetes.ts";

// Every expectation was read from kube-apiserver v1.35.4.

let folder: string;
let kubernetes: Kubernetes;
const things = "/apis/example.com/v1/namespaces/default/things";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "kubernetes-paths-"));
  kubernetes = await startKubernetes({ stateFolder: folder, controllers: false });
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const version = (name: string, more: object) => ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    ...more,
  });
  for (const [kind, scope, versions] of [
    [
      "Thing",
      "Namespaced",
      [
        version("v1", { subresources: { status: {}, scale } }),
        version("v1beta2", {}),
        version("v1beta1", { deprecated: true }),
        version("v1alpha1", { deprecated: true, deprecationWarning: "use v1, please" }),
        version("v2alpha1", { deprecated: true }),
      ],
    ],
    ["Plain", "Cluster", [version("v1", {})]],
    ["Old", "Cluster", [version("v1", { deprecated: true }), version("v1beta1", {})]],
  ] as const) {
    const singular = kind.toLowerCase();
    await askKubernetes(kubernetes, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${singular}s.example.com` },
      spec: { group: "example.com", scope, names: { plural: `${singular}s`, singular, kind }, versions },
    });
  }
});
afterAll(async () => {
  await kubernetes.close();
  await rm(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly warning: string | null;
  readonly text: string;
  /** `[message, details]` of a Status. */
  readonly says: readonly unknown[];
}

async function send(method: string, path: string, type = "application/json", body?: string): Promise<Answer> {
  const response = await fetch(`${kubernetes.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${kubernetes.token}`, "content-type": type },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const document: unknown = text.startsWith("{") ? JSON.parse(text) : undefined;
  const { message, details } = isJsonObject(document) ? document : {};
  return { status: response.status, warning: response.headers.get("warning"), text, says: [message, details] };
}

describe("the index", () => {
  test.each(["/", "/index.html"])(
    "GET %s lists the paths, with two spaces and no line break at the end",
    async (path) => {
      const { status, text } = await send("GET", path);
      expect(status).toBe(200);
      const document: unknown = JSON.parse(text);
      const paths = isJsonObject(document) && Array.isArray(document["paths"]) ? document["paths"].map(plainText) : [];
      expect(text).toBe(JSON.stringify({ paths }, undefined, 2));
      expect(paths).toEqual(paths.toSorted());
      expect(paths).toEqual(
        expect.arrayContaining([
          "/api",
          "/api/v1",
          "/apis",
          "/apis/",
          "/apis/apps",
          "/apis/apps/v1",
          "/apis/autoscaling/v2",
          "/apis/example.com",
          "/apis/example.com/v1beta1",
          "/healthz",
          "/livez",
          "/openapi/v2",
          "/openapi/v3",
          "/openapi/v3/",
          "/readyz",
          "/version",
        ]),
      );
    },
  );

  test("answers every method in the same way, and is forbidden without a token", async () => {
    expect((await send("POST", "/")).status).toBe(200);
    expect((await fetch(kubernetes.url)).status).toBe(403);
  });
});

describe("a method that a path does not support", () => {
  const general = ["the server does not allow this method on the requested resource", {}];

  test.each([
    ["POST", "/api/v1/componentstatuses"],
    ["DELETE", "/api/v1/componentstatuses"],
    ["DELETE", "/apis/apps/v1/deployments"],
    ["POST", "/apis/apps/v1/deployments"],
    ["GET", "/api/v1/namespaces/default/pods/x/binding"],
    ["GET", "/api/v1/namespaces/default/pods/x/eviction"],
    ["GET", "/api/v1/namespaces/default/finalize"],
    ["DELETE", "/api/v1/namespaces/default/pods/x/status"],
    ["POST", "/apis/apps/v1/namespaces/default/deployments/x/scale"],
    ["PUT", "/api"],
    ["POST", "/apis/apps/v1"],
    ["POST", "/version"],
  ])("of a built-in kind gets 405 with the server's text, without a warning: %s %s", async (method, path) => {
    const { status, says, warning } = await send(method, path);
    expect([status, says, warning]).toEqual([405, general, null]);
  });

  test.each([
    ["DELETE", `${things}/a/status`, "delete"],
    ["POST", `${things}/a/status`, "create"],
    ["DELETE", `${things}/a/scale`, "delete"],
    ["POST", `${things}/a/scale`, "create"],
    ["OPTIONS", things, ""],
  ])("of a custom resource gets 405 with the verb and the resource: %s %s", async (method, path, verb) => {
    const { status, says } = await send(method, path);
    const message = `${verb} is not supported on resources of kind "things.example.com"`;
    expect([status, says]).toEqual([405, [message, { group: "example.com", kind: "things" }]]);
  });

  test("PUT and PATCH of a custom collection need a name", async () => {
    const patch = "application/merge-patch+json";
    for (const [method, type] of [
      ["PUT", "application/json"],
      ["PATCH", patch],
    ] as const) {
      const { status, says } = await send(method, things, type, "{}");
      expect([method, status, says]).toEqual([method, 400, ["name must be provided", undefined]]);
    }
  });

  test.each([
    ["POST", "/apis/example.com/v1/things"],
    ["DELETE", "/apis/example.com/v1/things"],
    ["GET", "/apis/example.com/v1/namespaces/default/nope"],
    ["GET", "/apis/example.com/v1/namespaces/default/plains"],
  ])("of a custom resource in another scope is a path that does not exist: %s %s", async (method, path) => {
    expect(await send(method, path)).toMatchObject({ status: 404, text: "404 page not found\n" });
  });

  test("on an unknown subresource of a custom resource gets not found", async () => {
    for (const subresource of ["status", "foo"]) {
      const { status, says } = await send("PUT", `/apis/example.com/v1/plains/x/${subresource}`);
      expect([status, says[0]]).toEqual([404, 'plains.example.com "x" not found']);
    }
  });

  test.each(["/apis", "/apis/apps", "/apis/example.com", "/apis/example.com/v1"])(
    "is answered like GET by the discovery of groups: POST %s",
    async (path) => {
      expect((await send("POST", path)).status).toBe(200);
    },
  );
});

describe("a custom version that is deprecated", () => {
  test.each([
    ["v1beta1", "example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing"],
    ["v1alpha1", "use v1, please"],
    ["v2alpha1", "example.com/v2alpha1 Thing is deprecated; use example.com/v1 Thing"],
  ])("%s says so, and names the best version to use", async (version, text) => {
    const { warning } = await send("GET", `/apis/example.com/${version}/namespaces/default/things`);
    expect(warning).toBe(`299 - "${text}"`);
  });

  test("is reported without a replacement if no better one is served", async () => {
    const { warning } = await send("GET", "/apis/example.com/v1/olds");
    expect(warning).toBe('299 - "example.com/v1 Old is deprecated"');
  });

  test("gives no warning if the path does not exist", async () => {
    expect(await send("GET", "/apis/example.com/v1beta1/things/nope")).toMatchObject({ status: 404, warning: null });
  });
});

test("discovery lists status before scale", async () => {
  const { resources } = await askKubernetes(kubernetes, "GET", "/apis/example.com/v1");
  const names = (Array.isArray(resources) ? resources : []).flatMap((one) =>
    isJsonObject(one) ? [plainText(one["name"])] : [],
  );
  expect(names.filter((name) => name.startsWith("things"))).toEqual(["things", "things/status", "things/scale"]);
});
