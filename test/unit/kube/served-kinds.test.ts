import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { apiDeps, configMapOf, configOf, fakeApi, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();

/** Two groups serve a kind of one name, as Knative's and Kubernetes' Service. */
const groups = ["a.example", "b.example"].map((name) => ({
  metadata: { name },
  versions: ["v2", "v1"].map((version) => ({
    version,
    resources: [{ resource: "widgets", scope: "Namespaced", verbs: ["get"], responseKind: { kind: "Widget" } }],
  })),
}));

describe("kinds of the same name in two groups", () => {
  const widget = (group: string, version: string) => ({ group, version, kind: "Widget", namespace: "n", name: "w" });

  test("each have their own path, by their version", async () => {
    const asked: (string | undefined)[] = [];
    await using api = await fakeApi(({ url }, response) => {
      if (url === "/api") return sendJson(response, 200, { kind: "APIGroupDiscoveryList", items: [] });
      if (url === "/apis") return sendJson(response, 200, { kind: "APIGroupDiscoveryList", items: groups });
      asked.push(url);
      sendJson(response, 200, { ...configMapOf("w"), kind: "Widget" });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    for (const group of ["a.example", "b.example"]) {
      for (const version of ["v2", "v1"]) await cluster.get(widget(group, version), signal);
      expect(await cluster.resource({ group, kind: "Widget" }, signal)).toMatchObject({ group, version: "v2" });
    }
    expect(asked).toEqual(
      ["a.example/v2", "a.example/v1", "b.example/v2", "b.example/v1"].map(
        (of) => `/apis/${of}/namespaces/n/widgets/w`,
      ),
    );
    cluster.close();
  });

  test("are forgotten one by one: after one is removed only its own lookup repeats discovery", async () => {
    let looks = 0;
    await using api = await fakeApi(({ url = "" }, response) => {
      if (url === "/api") return sendJson(response, 200, { kind: "APIGroupDiscoveryList", items: [] });
      if (url === "/apis") {
        looks += 1;
        return sendJson(response, 200, {
          kind: "APIGroupDiscoveryList",
          items: looks === 1 ? groups : groups.slice(1),
        });
      }
      if (url.includes("a.example")) return void response.writeHead(404).end("404 page not found\n");
      sendJson(response, 200, { ...configMapOf("w"), kind: "Widget" });
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const gone = () =>
      expect(cluster.get(widget("a.example", "v1"), signal)).rejects.toMatchObject({ reason: "NoMatch" });
    await gone();
    await cluster.get(widget("b.example", "v1"), signal);
    expect(looks).toBe(1);
    await gone();
    expect(looks).toBe(2);
    await cluster.get(widget("b.example", "v2"), signal);
    expect(looks).toBe(2);
    cluster.close();
  });
});

describe("a 404", () => {
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "n" };
  const missing = (name: string, kind: string) => ({
    kind: "Status",
    code: 404,
    reason: "NotFound",
    details: { name, kind },
  });

  test.each([
    { of: "the object", answer: missing("n", "configmaps"), isGone: true },
    { of: "a namespace of the object's name", answer: missing("n", "namespaces"), isGone: false },
    { of: "another object", answer: missing("m", "configmaps"), isGone: false },
  ])("for $of means that the object is missing: $isGone", async ({ answer, isGone }) => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) sendJson(response, 404, answer);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const outcomes = await Promise.all(
      [cluster.get(ref, signal), cluster.delete(ref, { propagation: "Background" }, signal)].map((call) =>
        call.catch((error: unknown) => (error instanceof ApiError ? error.reason : error)),
      ),
    );
    expect(outcomes).toEqual(isGone ? [undefined, "gone"] : ["NotFound", "NotFound"]);
    cluster.close();
  });
});

test("a name is escaped in a path as the server expects it", async () => {
  const asked: (string | undefined)[] = [];
  await using api = await fakeApi((request, response) => {
    if (sendDiscovery(request, response)) return;
    asked.push(request.url);
    sendJson(response, 200, configMapOf("a"));
  });
  const cluster = connect(configOf(api.url), apiDeps);
  const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a b?c#d:e" };
  await cluster.get(ref, signal);
  expect(asked).toEqual(["/api/v1/namespaces/n/configmaps/a%20b%3Fc%23d%3Ae"]);
  cluster.close();
});

describe("the selectors of a list and of a watch", () => {
  const selectors = { labelSelector: "a=b", fieldSelector: "metadata.name=c" };
  const query = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", ...selectors };

  test.each([
    { streams: true, isMetadataOnly: true },
    { streams: true, isMetadataOnly: false },
    { streams: false, isMetadataOnly: true },
    { streams: false, isMetadataOnly: false },
  ])("are in every request, and so is the request for metadata only: %o", async ({ streams, isMetadataOnly }) => {
    const asked: { readonly is: string; readonly selectors: object; readonly isPartial: boolean | undefined }[] = [];
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      const { searchParams } = new URL(request.url ?? "", "http://a");
      const is = searchParams.has("sendInitialEvents") ? "stream" : searchParams.has("watch") ? "watch" : "list";
      const sent = {
        labelSelector: searchParams.get("labelSelector"),
        fieldSelector: searchParams.get("fieldSelector"),
      };
      asked.push({ is, selectors: sent, isPartial: request.headers.accept?.includes("PartialObjectMetadata") });
      if (is === "stream" && !streams) {
        return sendJson(response, 422, { kind: "Status", code: 422, reason: "Invalid", message: "no" });
      }
      if (is === "list") return sendJson(response, 200, { metadata: { resourceVersion: "10" }, items: [] });
      const annotations = { "k8s.io/initial-events-end": "true" };
      const bookmark = { metadata: { resourceVersion: "10", annotations } };
      if (is === "stream") response.write(`${JSON.stringify({ type: "BOOKMARK", object: bookmark })}\n`);
      response.end(`${JSON.stringify({ type: "MODIFIED", object: configMapOf("c", "11") })}\n`);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    let changes = 0;
    for await (const { type } of cluster.watch({ ...query, isMetadataOnly }, signal)) {
      if (type === "MODIFIED" && ++changes === 2) break;
    }
    expect(asked.map(({ is }) => is)).toEqual(streams ? ["stream", "watch"] : ["stream", "list", "watch", "watch"]);
    for (const request of asked) expect(request).toMatchObject({ selectors, isPartial: isMetadataOnly });
    cluster.close();
  });
});
