import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { apiClient, maxLimitMs } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { marginMs } from "../../../lib/queue/timing.ts";
import { faultOf } from "../../contract/cluster/fault-of.ts";
import { apiDeps, configMapOf, configOf, fakeApi, readNodes, sendDiscovery, sendJson } from "./fake-api.ts";

const { signal } = new AbortController();
const ref = { group: "", version: "v1", kind: "ConfigMap", namespace: "n", name: "a" };
const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "n" } };
const path = "/api/v1/namespaces/n/configmaps/a";

interface Sent {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly body: unknown;
}

/** What the server is sent besides discovery, by one call. */
async function sentBy(call: (cluster: Cluster) => Promise<unknown>): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  await using api = await fakeApi((request, response) => {
    if (sendDiscovery(request, response)) return;
    void buffer(request).then((bytes) => {
      const { method, url, headers } = request;
      const body: unknown = bytes.length === 0 ? undefined : JSON.parse(bytes.toString());
      sent.push({ method, url, type: headers["content-type"], body });
      sendJson(response, 200, configMapOf("a"));
    });
  });
  const cluster = connect(configOf(api.url), apiDeps);
  await call(cluster);
  cluster.close();
  return sent;
}

describe("the request of a write", () => {
  test("for a delete contains the uid and version of the checked object, and the propagation policy", async () => {
    const options = { uid: "u-1", resourceVersion: "7", propagation: "Background" } as const;
    const [{ method, url, body } = {}] = await sentBy((cluster) => cluster.delete(ref, options, signal));
    expect([method, url]).toEqual(["DELETE", path]);
    expect(body).toMatchObject({
      kind: "DeleteOptions",
      propagationPolicy: "Background",
      preconditions: { uid: "u-1", resourceVersion: "7" },
    });
  });

  test("for a delete without preconditions contains neither", async () => {
    const [{ body } = {}] = await sentBy((cluster) => cluster.delete(ref, { propagation: "Background" }, signal));
    expect(body).toMatchObject({ preconditions: {} });
  });

  test.each([
    [true, "true", undefined],
    [false, "false", undefined],
    [true, "true", "All"],
  ])("for an apply contains its manager and whether it forces: %s, dry run %s %s", async (force, said, dryRun) => {
    const options = { manager: "kustomize-controller", force, dryRun: dryRun !== undefined };
    const [{ method, url = "", type } = {}] = await sentBy((cluster) => cluster.apply(manifest, options, signal));
    const { pathname, searchParams } = new URL(url, "http://api");
    expect([method, pathname, type]).toEqual(["PATCH", path, "application/apply-patch+yaml"]);
    expect(Object.fromEntries(searchParams)).toEqual({
      fieldManager: "kustomize-controller",
      force: said,
      ...(dryRun === undefined ? {} : { dryRun }),
    });
  });

  test("for a dry run of a create or a patch is marked, and a status is written at its own path", async () => {
    const options = { manager: "m", dryRun: true };
    const sent = [
      ...(await sentBy((cluster) => cluster.create(manifest, options, signal))),
      ...(await sentBy((cluster) => cluster.patch(ref, { type: "merge", body: {} }, options, signal))),
      ...(await sentBy((cluster) =>
        cluster.patch(ref, { type: "json", body: [] }, { manager: "m", subresource: "status" }, signal),
      )),
    ];
    expect(sent.map(({ method, url, type }) => [method, url, type])).toEqual([
      ["POST", "/api/v1/namespaces/n/configmaps?fieldManager=m&dryRun=All", "application/json"],
      ["PATCH", `${path}?fieldManager=m&dryRun=All`, "application/merge-patch+json"],
      ["PATCH", `${path}/status?fieldManager=m`, "application/json-patch+json"],
    ]);
  });
});

describe("the result of a delete", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  test.each<[string, object, string]>([
    ["a status", { kind: "Status", status: "Success" }, "deleted"],
    ["the object as it was", configMapOf("a"), "deleted"],
    ["a terminating object without a finalizer", { metadata: { name: "a", deletionTimestamp } }, "deleted"],
    ["one that a finalizer holds", { metadata: { name: "a", deletionTimestamp, finalizers: ["x"] } }, "deleting"],
    [
      "one that has its grace period",
      { metadata: { name: "a", deletionTimestamp, deletionGracePeriodSeconds: 30 } },
      "deleting",
    ],
    [
      "a namespace that its own finalizer holds",
      { metadata: { name: "a", deletionTimestamp }, spec: { finalizers: ["kubernetes"] } },
      "deleting",
    ],
  ])("%s: %o is %s", async (_, answer, outcome) => {
    await using api = await fakeApi((request, response) => {
      if (!sendDiscovery(request, response)) sendJson(response, 200, answer);
    });
    const cluster = connect(configOf(api.url), apiDeps);
    expect(await cluster.delete(ref, { propagation: "Background" }, signal)).toBe(outcome);
    cluster.close();
  });
});

describe("requests that are repeated if a connection breaks", () => {
  const writes: readonly [name: string, times: number, write: (cluster: Cluster) => Promise<unknown>][] = [
    ["an apply", 2, (cluster) => cluster.apply(manifest, { manager: "m", force: true }, signal)],
    ["a merge patch", 2, (cluster) => cluster.patch(ref, { type: "merge", body: {} }, { manager: "m" }, signal)],
    ["a delete", 2, (cluster) => cluster.delete(ref, { propagation: "Background" }, signal)],
    // Done twice they have another outcome than done once.
    ["a JSON patch", 1, (cluster) => cluster.patch(ref, { type: "json", body: [] }, { manager: "m" }, signal)],
    ["a create", 1, (cluster) => cluster.create(manifest, { manager: "m" }, signal)],
  ];
  test.each(writes)("%s: sent %i times", async (_, times, write) => {
    let sent = 0;
    await using api = await fakeApi((request, response) => {
      if (sendDiscovery(request, response)) return;
      sent += 1;
      if (sent === 1) response.destroy();
      else sendJson(response, 200, configMapOf("a"));
    });
    const cluster = connect(configOf(api.url), apiDeps);
    await write(cluster).catch(() => undefined);
    expect(sent).toBe(times);
    cluster.close();
  });
});

describe("the duration of one call", () => {
  /** The pauses of a call that the server always answers with 429, on a clock that only pauses move. */
  async function pausesOf(headers: Record<string, string>, limitMs?: number) {
    const pauses: number[] = [];
    let now = 0;
    const clock = {
      ...apiDeps.clock,
      monotonic: () => now,
      sleep: async (ms: number) => {
        pauses.push(ms);
        now += ms;
      },
    };
    await using api = await fakeApi((_, response) => sendJson(response, 429, { message: "later" }, headers));
    const client = apiClient(configOf(api.url), { ...apiDeps, clock, ...(limitMs === undefined ? {} : { limitMs }) });
    await faultOf(client.expect(readNodes, signal));
    client.close();
    return pauses;
  }

  test("includes a retry after the time that the server asks for, or after a second", async () => {
    expect((await pausesOf({ "retry-after": "3" })).slice(0, 2)).toEqual([3_000, 3_000]);
    expect((await pausesOf({})).slice(0, 2)).toEqual([1_000, 1_000]);
  });

  test("stays within the margin of a lease, for any configured limit", async () => {
    expect(maxLimitMs).toBeLessThanOrEqual(marginMs);
    expect(await pausesOf({ "retry-after": "6" }, 600_000)).toEqual([6_000, 6_000]);
  });
});
