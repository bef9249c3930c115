import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJsonObject } from "../../lib/core/json.ts";
import { type Kubernetes, startKubernetes } from "../../local/kubernetes/start-kubernetes.ts";

const failures: unknown[] = [];
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (message: string, fields?: unknown) => failures.push([message, fields]),
};

let folder = "";
let kubernetes: Kubernetes;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-robust-"));
  kubernetes = await startKubernetes({ stateFolder: folder, port: 0, controllers: false, log });
});

afterAll(async () => {
  await kubernetes.close();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Without fetch: it would mend the paths that are to be odd. */
async function call(method: string, path: string, body = "", headers: Record<string, string> = {}): Promise<Answer> {
  const length = "transfer-encoding" in headers ? {} : { "content-length": Buffer.byteLength(body) };
  const outgoing = request({
    host: "127.0.0.1",
    port: kubernetes.port,
    method,
    path,
    headers: { authorization: `Bearer ${kubernetes.token}`, ...length, ...headers },
  });
  outgoing.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.once("error", reject);
  });
  return { status: response.statusCode ?? 0, text: await text(response) };
}

const configMaps = "/api/v1/namespaces/default/configmaps";
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
const path = fc
  .tuple(fc.array(step, { maxLength: 8 }), fc.array(fc.tuple(queryName, queryValue), { maxLength: 3 }))
  .map(([steps, query]) => {
    const asked = query.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join("&");
    return `/${steps.join("/")}${asked === "" ? "" : `?${asked}`}`;
  });
const contentType = fc.constantFrom(
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
const accept = fc.constantFrom(
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
const jsonish = fc.oneof(fc.json({ maxDepth: 4 }), fc.string());

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
const { tree } = fc.letrec((tie) => ({
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
const target = fc.constantFrom(
  { path: `${configMaps}/a`, list: configMaps, identity: { apiVersion: "v1", kind: "ConfigMap" } },
  {
    path: "/apis/apps/v1/namespaces/default/deployments/a",
    list: "/apis/apps/v1/namespaces/default/deployments",
    identity: { apiVersion: "apps/v1", kind: "Deployment" },
  },
  {
    path: "/apis/apps/v1/namespaces/default/deployments/a/status",
    list: "/apis/apps/v1/namespaces/default/deployments",
    identity: { apiVersion: "apps/v1", kind: "Deployment" },
  },
  {
    path: "/apis/apps/v1/namespaces/default/deployments/a/scale",
    list: "/apis/apps/v1/namespaces/default/deployments",
    identity: { apiVersion: "autoscaling/v1", kind: "Scale" },
  },
  {
    path: "/api/v1/namespaces/default/services/a",
    list: "/api/v1/namespaces/default/services",
    identity: { apiVersion: "v1", kind: "Service" },
  },
  {
    path: "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/a",
    list: "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
    identity: { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler" },
  },
  {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.b.c",
    list: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    identity: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
  },
  {
    path: "/api/v1/namespaces/default/pods/a",
    list: "/api/v1/namespaces/default/pods",
    identity: { apiVersion: "v1", kind: "Pod" },
  },
  {
    path: "/api/v1/namespaces/default/events/a",
    list: "/apis/events.k8s.io/v1/namespaces/default/events",
    identity: { apiVersion: "v1", kind: "Event" },
  },
);

/** What a client may be answered: never the text of a failure that the server did not foresee. */
function expectForeseen({ status, text: body }: Answer): void {
  expect(body).not.toContain("the embedded cluster failed");
  expect(status).toBeGreaterThanOrEqual(200);
}

describe("no request makes the embedded API server fail", () => {
  test("any path, query, verb, media type and body", { timeout: 120_000 }, async () => {
    const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS");
    await fc.assert(
      fc.asyncProperty(method, path, contentType, accept, jsonish, async (verb, where, type, wants, body) => {
        const headers = { "content-type": type, accept: wants };
        expectForeseen(await call(verb, where, ["GET", "HEAD"].includes(verb) ? "" : body, headers));
      }),
      { numRuns: 600 },
    );
    expect(failures).toEqual([]);
  });

  test("objects and patches of any shape", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(target, tree, contentType, fc.boolean(), async (one, body, type, isCreate) => {
        const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
        const document = isObject ? { ...body, ...one.identity } : body;
        const sent = JSON.stringify(document);
        const json = { "content-type": "application/json" };
        if (isCreate) expectForeseen(await call("POST", one.list, sent, json));
        else expectForeseen(await call("PUT", one.path, sent, json));
        expectForeseen(await call("PATCH", `${one.path}?fieldManager=a`, sent, { "content-type": type }));
        expectForeseen(await call("GET", one.list, "", { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }));
      }),
      { numRuns: 300 },
    );
    expect(failures).toEqual([]);
  });
});

describe("bad requests are answered clearly", () => {
  test("a body over 3 MiB is 413, announced or not", async () => {
    const large = "x".repeat(3 * 1024 * 1024 + 1);
    const json = { "content-type": "application/json" };
    const tooLarge = { status: 413, reason: "RequestEntityTooLarge" };
    expect(summary(await call("POST", configMaps, large, json))).toMatchObject(tooLarge);
    expect(summary(await call("POST", configMaps, large, { ...json, "transfer-encoding": "chunked" }))).toMatchObject(
      tooLarge,
    );
  });

  test.each([
    { name: "JSON that breaks off", type: "application/json", body: '{"kind":' },
    { name: "YAML that does not parse", type: "application/yaml", body: "a: [" },
    { name: "JSON nested 5,000 levels deep", type: "application/json", body: "[".repeat(5000) + "]".repeat(5000) },
    { name: "YAML of nine levels of aliases", type: "application/yaml", body: aliasBomb() },
  ])("$name is 400", async ({ type, body }) => {
    const answer = await call("POST", configMaps, body, { "content-type": type });
    expect(summary(answer)).toMatchObject({ status: 400, reason: "BadRequest" });
  });

  test("headers over 32 KiB are refused, and the server goes on", async () => {
    const { status } = await call("GET", "/version", "", { "x-large": "x".repeat(40_000) });
    expect(status).toBe(431);
    expect((await call("GET", "/version")).status).toBe(200);
  });

  test("a client that goes away midway harms nobody", async () => {
    const socket = connect(kubernetes.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{");
    socket.destroy();
    expect((await call("GET", "/version")).status).toBe(200);
    expect(failures).toEqual([]);
  });

  test.each([
    { name: "none at all", body: "{}" },
    { name: "only a beginning", body: "k8s\0\n" },
    { name: "one that breaks off", body: "k8s\0\n\u0020v1" },
  ])("a protobuf body that is $name is 400", async ({ body }) => {
    const protobuf = { "content-type": "application/vnd.kubernetes.protobuf" };
    expect(summary(await call("POST", configMaps, body, protobuf))).toMatchObject({
      status: 400,
      reason: "BadRequest",
    });
  });

  test("a protobuf body of a kind that is not read is 415 and says what to send", async () => {
    const body = "k8s\0\n\u0015\n\u0007apps/v1\u0012\nDeployment\u0012\u0000";
    const answer = await call("POST", "/apis/apps/v1/namespaces/default/deployments", body, {
      "content-type": "application/vnd.kubernetes.protobuf",
    });
    expect(summary(answer)).toMatchObject({
      status: 415,
      message: expect.stringContaining("--dry-run=client -o yaml"),
    });
  });

  test("logs of a Pod are refused by name", async () => {
    const answer = summary(await call("GET", "/api/v1/namespaces/default/pods/a/log"));
    expect(answer).toMatchObject({ status: 501, message: expect.stringContaining("runs no containers") });
  });
});

/** The code of an answer, with reason and message where it is a Status. */
function summary({ status, text: body }: Answer): object {
  const document: unknown = JSON.parse(body);
  return isJsonObject(document) ? { ...document, status } : { status };
}

function aliasBomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(", ")}]`,
  );
  return ["l0: &l0 [x]", ...levels].join("\n");
}
