import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { apiDeps, configMapOf, configOf, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const query = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };
const ref = { ...query, name: "a" };
const expired = { kind: "Status", code: 410, reason: "Expired", message: "too old" };

function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: unknown) => (error instanceof ApiError ? error.reason : error));
}

describe("lists of the cluster adapter", () => {
  test("start again if the server has dropped the first page", async () => {
    const asked: (string | null)[] = [];
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      const { searchParams } = new URL(request.url ?? "", "http://a");
      asked.push(searchParams.get("continue"));
      expect(searchParams.get("limit")).toBe("500");
      if (asked.length === 2) sendJson(response, 410, expired);
      else if (searchParams.has("continue")) sendJson(response, 200, { metadata: {}, items: [configMapOf("b")] });
      else sendJson(response, 200, { metadata: { continue: "next" }, items: [configMapOf("a")] });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect((await cluster.list(query, signal)).map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    expect(asked).toEqual([null, "next", null, "next"]);
    cluster.close();
  });

  test("that expire repeatedly end with the server's error", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) sendJson(response, 410, expired);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await reasonOf(cluster.list(query, signal))).toBe("Expired");
    cluster.close();
  });

  test("treat a page whose items are null as empty", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) sendJson(response, 200, { metadata: {}, items: null });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await cluster.listMetadata(query, signal)).toEqual([]);
    cluster.close();
  });

  test("of metadata drop the content, even if the server sends it", async () => {
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      expect(request.headers.accept).toContain("as=PartialObjectMetadataList");
      sendJson(response, 200, { metadata: {}, items: [{ ...configMapOf("a"), data: { k: "v" } }] });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await cluster.listMetadata(query, signal)).toEqual([configMapOf("a")]);
    cluster.close();
  });
});

describe("answers to the cluster adapter", () => {
  test("with warnings return their texts", async () => {
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      response.setHeader("warning", ['299 - "v1 X is deprecated"', '299 - "unknown field \\"a\\", dropped"']);
      sendJson(response, 200, configMapOf("a"));
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
    const { created, warnings } = await cluster.apply(manifest, { manager: "m", force: false }, signal);
    expect([created, warnings]).toEqual([false, ["v1 X is deprecated", 'unknown field "a", dropped']]);
    cluster.close();
  });

  test("for a path that is no longer served are NoMatch, never a missing object, and discovery runs again", async () => {
    let looks = 0;
    await using api = await fakeApi((request, response) => {
      if (request.url === "/api") looks++;
      if (!sendDiscovery(request, response)) response.writeHead(404).end("404 page not found\n");
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await reasonOf(cluster.get(ref, signal))).toBe("NoMatch");
    expect(await reasonOf(cluster.delete(ref, { propagation: "Background" }, signal))).toBe("NoMatch");
    expect(await reasonOf(cluster.list(ref, signal))).toBe("NoMatch");
    expect(await reasonOf(cluster.listMetadata(ref, signal))).toBe("NoMatch");
    expect(await reasonOf(cluster.watch(ref, signal)[Symbol.asyncIterator]().next())).toBe("NoMatch");
    expect(looks).toBe(5);
    cluster.close();
  });

  test("for a path that is no longer served do not delay lookups of other kinds", async () => {
    let looks = 0;
    await using api = await fakeApi((request, response) => {
      if (request.url === "/api" || request.url === "/apis") {
        if (request.url === "/api") looks++;
        const served = (resource: string, kind: string) => ({ resource, scope: "Namespaced", responseKind: { kind } });
        const resources = [served("configmaps", "ConfigMap"), served("secrets", "Secret")];
        const items = [{ metadata: { name: "" }, versions: [{ version: "v1", resources }] }];
        return sendJson(response, 200, { kind: "APIGroupDiscoveryList", items: request.url === "/api" ? items : [] });
      }
      if (request.url?.includes("/secrets/")) return void response.writeHead(404).end("404 page not found\n");
      sendJson(response, 200, configMapOf("a"));
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await reasonOf(cluster.get({ ...ref, kind: "Secret" }, signal))).toBe("NoMatch");
    expect(await cluster.get(ref, signal)).toMatchObject({ kind: "ConfigMap" });
    expect(looks).toBe(1);
    expect(await reasonOf(cluster.get({ ...ref, kind: "Secret" }, signal))).toBe("NoMatch");
    expect(looks).toBe(2);
    cluster.close();
  });

  test("that are not an object are an error", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) sendJson(response, 200, { kind: "ConfigMap" });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await reasonOf(cluster.get(ref, signal))).toBe("InternalError");
    cluster.close();
  });
});

describe("discovery of the cluster adapter", () => {
  test("sends one request for known kinds, and concurrent misses share one request", async () => {
    let looks = 0;
    await using api = await fakeApi((request, response) => {
      if (request.url === "/apis") looks++;
      sendDiscovery(request, response);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const find = (kind: string) => cluster.resource({ group: "", kind }, signal);
    await Promise.all([find("ConfigMap"), find("Secret"), find("Pod")]);
    await find("ConfigMap");
    expect(looks).toBe(1);
    expect(await find("Secret")).toBeUndefined();
    expect(looks).toBe(2);
    cluster.close();
  });

  test("for an aborted caller does not stop the others", async () => {
    await using api = await fakeApi((request, response) => void sendDiscovery(request, response));
    const cluster = connect(configOf(api.url), apiDeps);
    const stop = new AbortController();
    const first = cluster.resource({ group: "", kind: "ConfigMap" }, stop.signal);
    const second = cluster.resource({ group: "", kind: "ConfigMap" }, signal);
    stop.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    expect(await second).toMatchObject({ plural: "configmaps" });
    cluster.close();
  });

  test("reports a server that is too old", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(response, 200, { kind: "APIVersions" });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    await expect(cluster.resource({ group: "", kind: "Pod" }, signal)).rejects.toThrow(
      "Kubernetes 1.27 or later is needed",
    );
    cluster.close();
  });
});

test.each([
  [".stringData.pin: expected string, got ", "&value.valueUnstructured{Value:hunter}"],
  [".stringData: expected map, got ", "&{hunter}"],
  [".data: expected map, got ", "&{[hunter]}"],
  [".stringData: expected map, got ", "&{first line\nhunter}\n.immutable: expected boolean, got &{hunter}"],
])("no error shows the values of a Secret with fields of the wrong type: %s%j", async (fault, value) => {
  const said = `failed to create typed patch object (n/a; /v1, Kind=Secret): ${fault}`;
  await using api = await fakeApi((request, response) => {
    if (request.method !== "GET") {
      const causes = [{ message: `${fault}${value}` }];
      sendJson(response, 500, { kind: "Status", code: 500, message: `${said}${value}`, details: { causes } });
      return;
    }
    sendDiscovery(request, response, { resource: "secrets", kind: "Secret" });
  });
  const cluster = connect(configOf(api.url), apiDeps);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "n" } };
  await expect(cluster.apply(secret, { manager: "m", force: true }, signal)).rejects.toMatchObject({
    message: `${said}*****`,
    causes: [{ message: `${fault}*****` }],
  });
  cluster.close();
});

test("an answer that is cut off is not quoted, because it may be a Secret", async () => {
  await using api = await fakeApi((request, response) => {
    if (sendDiscovery(request, response, { resource: "secrets", kind: "Secret" })) return;
    response.end('{"kind":"Secret","data":{"a":"hunter');
  });
  const cluster = connect(configOf(api.url), apiDeps);
  const ref = { group: "", version: "v1", kind: "Secret", namespace: "n", name: "a" };
  await expect(cluster.get(ref, signal)).rejects.toThrow("the cluster's answer of 36 characters is not a JSON object");
  cluster.close();
});

test("the uid of the cluster is requested once, and again after a failure", async () => {
  const answers = [500, 200];
  await using api = await fakeApi((_, response) => {
    const status = answers.shift();
    if (status === 200)
      sendJson(response, 200, { apiVersion: "v1", kind: "Namespace", metadata: { name: "k", uid: "u" } });
    else sendJson(response, 500, { kind: "Status", code: 500, reason: "InternalError", message: "not now" });
  });
  const cluster = connect(configOf(api.url), apiDeps);
  expect(await reasonOf(cluster.uid(signal))).toBe("InternalError");
  expect([await cluster.uid(signal), await cluster.uid(signal)]).toEqual(["u", "u"]);
  cluster.close();
});

describe("tokens of service accounts", () => {
  const account = { namespace: "apps", name: "decrypts" };

  test("are requested with the audience, and cannot be printed", async () => {
    const asked: unknown[] = [];
    await using api = await fakeApi((request, response) => {
      asked.push(request.method, request.url);
      buffer(request).then(
        (body) => {
          asked.push(JSON.parse(body.toString()));
          sendJson(response, 201, { kind: "TokenRequest", status: { token: "a.b.c" } });
        },
        () => response.destroy(),
      );
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const token = await cluster.accountTokens.issue(account, ["https://vault.example.com"], signal);
    expect(token.reveal()).toBe("a.b.c");
    expect(JSON.stringify({ token })).toBe('{"token":"[secret]"}');
    expect(asked).toEqual([
      "POST",
      "/api/v1/namespaces/apps/serviceaccounts/decrypts/token",
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { audiences: ["https://vault.example.com"] },
      },
    ]);
    cluster.close();
  });

  test("that the server refuses give its error", async () => {
    const message = 'serviceaccounts "decrypts" is forbidden';
    await using api = await fakeApi((_request, response) =>
      sendJson(response, 403, { kind: "Status", code: 403, reason: "Forbidden", message }),
    );
    const cluster = connect(configOf(api.url), apiDeps);
    await expect(cluster.accountTokens.issue(account, ["a"], signal)).rejects.toMatchObject({
      reason: "Forbidden",
      message,
    });
    cluster.close();
  });

  test("that are missing in the answer give an error", async () => {
    await using api = await fakeApi((_request, response) =>
      sendJson(response, 201, { kind: "TokenRequest", status: {} }),
    );
    const cluster = connect(configOf(api.url), apiDeps);
    await expect(cluster.accountTokens.issue(account, ["a"], signal)).rejects.toThrow("holds no token");
    cluster.close();
  });
});
