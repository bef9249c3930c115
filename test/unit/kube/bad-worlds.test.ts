import { describe, expect, test } from "vitest";
import { apiClient } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { faultOf } from "../../contract/cluster/fault-of.ts";
import { apiDeps, configMapOf, configOf, fakeApi, readNodes, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const configMaps = { group: "", version: "v1", kind: "ConfigMap", namespace: "n" };

describe("endless answers", () => {
  test("to a refused watch are read up to the time limit, and the status is reported", async () => {
    const limitMs = 15_000;
    let now = 0;
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      // What is left of the time is for the text.
      now = limitMs - 400;
      response.writeHead(403).write("no entry");
    });
    const clock = { ...apiDeps.clock, monotonic: () => now };
    const cluster = connect(configOf(api.url), { ...apiDeps, clock, limitMs });
    const error = await faultOf(cluster.watch(configMaps, signal)[Symbol.asyncIterator]().next());
    expect(error).toMatchObject({ code: 403, reason: "Forbidden", message: "no entry" });
    cluster.close();
  });

  test("in a Status are shortened, with the number of characters that are left out", async () => {
    const message = "x".repeat(1_000_000);
    const causes = [{ reason: "FieldValueInvalid", field: "f".repeat(5_000), message }];
    await using api = await fakeApi((_, response) => {
      sendJson(response, 422, { kind: "Status", code: 422, reason: "Invalid", message, details: { causes } });
    });
    const client = apiClient(configOf(api.url), apiDeps);
    const error = await faultOf(client.expect(readNodes, signal));
    expect(error).toMatchObject({ code: 422, reason: "Invalid" });
    expect(error.message).toMatch(/^x{16384}… \(983616 more letters\)$/);
    expect(JSON.stringify(error.causes).length).toBeLessThan(6_000);
    client.close();
  });
});

describe("an API server of another version", () => {
  const group = (extra: object = {}) => ({
    metadata: { name: "" },
    versions: [
      {
        version: "v1",
        resources: [
          {
            resource: "configmaps",
            scope: "Namespaced",
            verbs: ["get", "list", "watch", "levitate"],
            responseKind: { group: "", version: "v1", kind: "ConfigMap" },
            ...extra,
          },
        ],
        freshness: "Current",
        ...extra,
      },
    ],
    ...extra,
  });
  const serving = (accepted: string, extra: object = {}) =>
    fakeApi((request, response) => {
      if (request.url !== "/api" && request.url !== "/apis") {
        sendJson(response, 200, { ...configMapOf("a"), ...extra });
        return;
      }
      // A server answers in the first form of the list that it knows; of none of them it knows nothing.
      const isUnderstood = request.headers.accept?.includes(`v=${accepted};`) === true;
      const items = request.url === "/api" ? [group(extra)] : [];
      if (isUnderstood) sendJson(response, 200, { kind: "APIGroupDiscoveryList", items, ...extra });
      else sendJson(response, 200, { kind: "APIVersions", versions: ["v1"] });
    });

  test.each([
    { name: "1.27 to 1.29, which has discovery in v2beta1", accepted: "v2beta1", extra: {} },
    { name: "1.30 or later", accepted: "v2", extra: {} },
    { name: "the future, with fields that are unknown today", accepted: "v2", extra: { horizon: { a: [1] } } },
  ])("of $name works", async ({ accepted, extra }) => {
    await using api = await serving(accepted, extra);
    const cluster = connect(configOf(api.url), apiDeps);
    const found = await cluster.resource({ group: "", kind: "ConfigMap" }, signal);
    expect(found).toMatchObject({ plural: "configmaps", version: "v1", namespaced: true });
    expect(await cluster.get({ ...configMaps, name: "a" }, signal)).toMatchObject({ kind: "ConfigMap" });
    cluster.close();
  });

  test("of the future without this form of discovery gives a clear error", async () => {
    await using api = await serving("v3");
    const cluster = connect(configOf(api.url), apiDeps);
    const error = await faultOf(cluster.get({ ...configMaps, name: "a" }, signal));
    expect(error).toMatchObject({ code: 406, reason: "NotAcceptable" });
    expect(error.message).toContain("does not support aggregated discovery");
    cluster.close();
  });

  test("that sends an unknown type of event ends the watch with an error", async () => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response))
        response.end(`${JSON.stringify({ type: "MOVED", object: configMapOf("a") })}\n`);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    const error = await faultOf(cluster.watch(configMaps, signal)[Symbol.asyncIterator]().next());
    expect(error.code).toBe(500);
    cluster.close();
  });

  test("that returns an unknown reason has it passed on", async () => {
    await using api = await fakeApi((_, response) => {
      sendJson(response, 418, { kind: "Status", code: 418, reason: "Teapot", message: "short and stout" });
    });
    const client = apiClient(configOf(api.url), apiDeps);
    expect(await faultOf(client.expect(readNodes, signal))).toMatchObject({ code: 418, reason: "Teapot" });
    client.close();
  });
});

describe("an aggregated API server that does not answer", () => {
  const metrics = (version: object) => ({ metadata: { name: "metrics.example.com" }, versions: [version] });
  const serving = (version: object) =>
    fakeApi((request, response) => {
      const items = request.url === "/apis" ? [metrics(version)] : [];
      sendJson(response, 200, { kind: "APIGroupDiscoveryList", items });
    });
  const query = { group: "metrics.example.com", kind: "Gauge" };

  test("leaves it unknown whether its kinds are served, so that their objects do not count as deleted", async () => {
    await using api = await serving({ version: "v1", resources: [], freshness: "Stale" });
    const cluster = connect(configOf(api.url), apiDeps);
    const error = await faultOf(cluster.resource(query, signal));
    expect(error).toMatchObject({ code: 503, reason: "ServiceUnavailable" });
    expect(error.message).toMatch(/^whether kind Gauge is served is unknown: .* group metrics\.example\.com does not/);
    await expect(cluster.resource({ ...query, group: "other.example.com" }, signal)).resolves.toBeUndefined();
    cluster.close();
  });

  test("is still called for its known kinds", async () => {
    const gauge = { resource: "gauges", scope: "Namespaced", verbs: ["list"], responseKind: { kind: "Gauge" } };
    await using api = await serving({ version: "v1", resources: [gauge], freshness: "Stale" });
    const cluster = connect(configOf(api.url), apiDeps);
    await expect(cluster.resource(query, signal)).resolves.toMatchObject({ plural: "gauges" });
    cluster.close();
  });
});
