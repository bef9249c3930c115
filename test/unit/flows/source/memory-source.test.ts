import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Condition, Conditions } from "../../../../lib/api/condition.ts";
import { Artifact } from "../../../../lib/api/source.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { Flow } from "../../../../lib/core/ports/run.ts";
import { parseWorkKey } from "../../../../lib/core/work-key.ts";
import { type OutageDeps, reportOutage, retryOutages } from "../../../../lib/flows/kinds/outages.ts";
import { withTimesOf } from "../../../../lib/flows/source/source-conditions.ts";
import { sourceFlow } from "../../../../lib/flows/source/source-flow.ts";
import { untilDeadline } from "../../../deadline.ts";
import { memoryKind, memorySource, type Shelves, shelves } from "../../../doubles/memory-source.ts";
import { sourceWorld, type World } from "../source-world.ts";

let world: World;
let all: Shelves;
beforeEach(async () => {
  world = await sourceWorld(undefined, "Bucket");
  all = shelves();
  all.held.set("a", { version: "v1", files: { "a.yaml": "kind: ConfigMap\n" } });
});
afterEach(() => world.close());

const key = { cluster: "test", group: "helm.toolkit.fluxcd.io", namespace: "apps" };
const Status = z.object({ conditions: Conditions.default([]), artifact: Artifact.exactOptional() }).loose();
const status = () => Status.parse(world.get("app")["status"]);
const conditions = () => status().conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
const message = () => status().conditions.find(({ type }) => type === "Ready")?.message;
const events = () => world.events.map(({ type, reason }) => `${String(type)} ${String(reason)}`);

function bucket(spec: JsonObject = {}): void {
  const metadata = { name: "app", namespace: "apps" };
  const apiVersion = "source.toolkit.fluxcd.io/v1";
  world.apply({ apiVersion, kind: "Bucket", metadata, spec: { interval: "1h", shelf: "a", ...spec } });
}

const flowOf = (deps: World["deps"]): Flow => sourceFlow(memorySource(all), deps);
const run = () => world.run("app", untilDeadline(), flowOf);

/** Runs as an installation has them, each when it is due, for as long as this. */
async function outlast(ms: number): Promise<void> {
  const patient = (deps: World["deps"]): Flow => {
    const report: OutageDeps["report"] = (of, failure, wasReported) =>
      reportOutage(of, failure, wasReported, { ...deps, kinds: [memoryKind(all)] });
    return retryOutages(flowOf(deps), { ...deps, report });
  };
  const { state } = world;
  for (const until = state.now + ms; state.now < until; ) {
    const { dueInMs = ms } = await world.run("app", untilDeadline(), patient);
    state.now += dueInMs;
  }
}

describe("a kind of source in memory, defined in one file", () => {
  test("with a new generation and the same artifact wakes only HelmReleases, which wait for it", async () => {
    const consumers = ["HelmRelease", "Kustomization"].map((kind) => ({ ...key, kind, name: "web" }));
    const subscribed = (deps: World["deps"]): Flow =>
      flowOf({ ...deps, subscriptions: { ...deps.subscriptions, subscribers: async () => consumers } });
    const woken = async (): Promise<readonly string[]> => {
      world.requested.length = 0;
      await world.run("app", untilDeadline(), subscribed);
      return world.requested.map((one) => parseWorkKey(one.key).kind);
    };
    bucket();
    expect(await woken()).toEqual(["HelmRelease", "Kustomization"]);
    expect(await woken()).toEqual([]);
    bucket({ interval: "2h" });
    expect(await woken()).toEqual(["HelmRelease"]);
    // Why it has failed is shown by HelmReleases, and once.
    all.held.delete("a");
    expect([await woken(), await woken()]).toEqual([["HelmRelease"], []]);
  });

  test("is fetched, stored, announced and shown like every other source", async () => {
    bucket();
    expect(await run()).toMatchObject({ outcome: "stored", dueInMs: 3_600_000, seen: { revision: "v1" } });
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
    expect(message()).toBe("stored artifact: revision 'v1'");
    const { artifact } = status();
    expect(artifact).toMatchObject({ revision: "v1", path: "bucket/apps/app/v1.tar.gz" });
    expect([...world.stored.keys()]).toEqual([artifact?.digest]);
    // A kind that names no latest file has no such address.
    expect(status()).not.toHaveProperty("url");
    expect(world.events).toMatchObject([{ type: "Normal", reason: "NewArtifact", message: "stored 1 files" }]);
    expect(world.requested.map(({ key }) => key)).toEqual(["here/source.toolkit.fluxcd.io/Kustomization/apps/web"]);
    expect([...world.listens.values()]).toEqual([["shelf#a"]]);
  });

  /** The interval finds a new revision of this age; then runs follow, each asked for by an event or not. */
  async function find(ageMs: number, asked: readonly boolean[]): Promise<readonly unknown[]> {
    const pushed = () => new Date(world.state.now - ageMs).toISOString();
    all.held.set("a", { version: "v1", files: {}, pushed: pushed() });
    bucket();
    await run();
    all.held.set("a", {
      version: "v2",
      files: { "a.yaml": "kind: Secret\n" },
      pushed: pushed(),
    });
    const dueInMs: unknown[] = [];
    for (const isRequested of asked) {
      world.state.isRequested = isRequested;
      dueInMs.push((await run()).dueInMs);
    }
    return dueInMs;
  }
  const missed = [["Bucket/apps/app", { EventsMissed: 1 }, { revision: "v2" }]];

  test("a revision that the interval finds a minute after its push counts once as a missed event", async () => {
    await find(60_000, [false, false, false]);
    expect(world.measured).toEqual(missed);
    expect(world.logged.filter((line) => JSON.stringify(line).includes("no event announced it"))).toHaveLength(1);
  });

  test("a revision that a user requested does not count as a missed event", async () => {
    await find(60_000, [true, false, false]);
    expect(world.measured).toEqual([]);
  });

  test.each([
    { what: "that is so new that its event may still come", ageMs: 59_000 },
    { what: "with an unknown push time", ageMs: 3_600_001 },
  ])("a revision $what counts as missed if no event has come a minute later, and not if one has", async ({ ageMs }) => {
    expect(await find(ageMs, [false])).toEqual([60_000]);
    expect(world.measured).toEqual([]);
    world.state.isRequested = false;
    await run();
    await run();
    expect(world.measured).toEqual(missed);
  });

  test("a late event does not count as missed", async () => {
    await find(59_000, [false, true, false]);
    expect(world.measured).toEqual([]);
  });

  test.each([
    { what: "by its name", selectors: [{ name: "other" }, { name: "app" }], found: missed },
    { what: "by its labels", selectors: [{ labels: { team: "a" } }], found: missed },
    { what: "by labels that it has not", selectors: [{ labels: { team: "a", tier: "b" } }], found: [] },
    { what: "not, but another of its namespace", selectors: [{ name: "other" }], found: [] },
  ])(
    "whose pushes are not announced by events, selected by a Receiver $what: $found.length events are missed",
    async ({ selectors, found }) => {
      all.held.set("a", { version: "v1", files: {} });
      bucket();
      world.label("app", { team: "a" });
      await run();
      const { subscriptions } = world.deps;
      const followers = subscriptions.followers.bind(subscriptions);
      world.deps.subscriptions.followers = async (topic, signal) =>
        topic === "meta#here/source.toolkit.fluxcd.io/Bucket/apps"
          ? [
              {
                key: parseWorkKey("here/notification.toolkit.fluxcd.io/Receiver/apps/hook"),
                follows: { kind: "objects", selectors },
              },
            ]
          : followers(topic, signal);
      all.held.set("a", { version: "v2", files: { "a.yaml": "kind: Secret\n" } });
      world.state.isRequested = false;
      await run();
      await run();
      expect(world.measured).toEqual(found);
    },
  );

  test("that is unchanged costs one request and no pull; a new revision or setting is pulled", async () => {
    bucket();
    await run();
    expect(await run()).toMatchObject({ outcome: "unchanged", isQuiet: true });
    expect(all).toMatchObject({ asked: 2, pulled: 1 });

    all.held.set("a", { version: "v2", files: { "a.yaml": "kind: Secret\n" } });
    await run();
    expect(status().artifact?.revision).toBe("v2");
    bucket({ ignore: "*.md" });
    await run();
    expect(all).toMatchObject({ asked: 4, pulled: 3 });
    expect(status()).toMatchObject({ observedIgnore: "*.md" });
    // The setting left the content as it was: consumers were woken for the two revisions alone.
    expect(world.requested).toHaveLength(2);
  });

  /** What a run has written to the cluster, in order, if each event takes so many turns of the event loop. */
  async function writtenWith(turnsOfEvent: number): Promise<readonly unknown[]> {
    world.writes.length = 0;
    await world.run("app", untilDeadline(), (deps) =>
      flowOf({
        ...deps,
        home: {
          ...deps.home,
          create: async (...given) => {
            for (let turn = 0; turn < turnsOfEvent; turn++) await setImmediate();
            return deps.home.create(...given);
          },
        },
      }),
    );
    const reasonOf = (body: unknown) => z.object({ reason: z.string() }).safeParse(body).data?.reason;
    return world.writes.map(({ subresource, body }) => subresource ?? reasonOf(body));
  }

  test("that is unchanged writes its status without waiting for the event about it", async () => {
    bucket();
    await run();
    world.annotate("app", { "reconcile.fluxcd.io/requestedAt": "now" });
    expect(await writtenWith(50)).toEqual(["status", "ArtifactUpToDate"]);
  });

  test("that is new has its event before its status, which the next run takes as proof of the event", async () => {
    bucket();
    await run();
    all.held.set("a", { version: "v2", files: { "a.yaml": "kind: Secret\n" } });
    expect((await writtenWith(50)).slice(-2)).toEqual(["NewArtifact", "status"]);
  });

  test("fails and recovers like an OCIRepository", async () => {
    bucket({ shelf: "b" });
    expect(await run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False ReadOperationFailed",
      "FetchFailed=True ReadOperationFailed",
    ]);
    expect(await run()).toMatchObject({ outcome: "failed", dueInMs: 1_500 });
    expect(events()).toEqual(["Warning ReadOperationFailed"]);
    all.held.set("b", { version: "v1", files: {} });
    await run();
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
  });

  test("stalls if its kind refuses the spec", async () => {
    bucket({ shelf: "a/b" });
    expect(await run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    expect(conditions()).toEqual(["Stalled=True UnsupportedField", "Ready=False UnsupportedField"]);
    expect(all.asked).toBe(0);
  });

  test("waits for another source with a condition of its own kind and a Normal event", async () => {
    bucket({ with: "b" });
    expect(await run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False DependencyNotReady",
      "IncludeUnavailable=True DependencyNotReady",
    ]);
    expect(events()).toEqual(["Normal DependencyNotReady"]);
    all.held.set("b", { version: "v1", files: {} });
    await run();
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
  });

  test("shows whether it is verified, and stays verified if a later step fails", async () => {
    all.held.set("a", { version: "v1", signed: true, files: {} });
    bucket();
    await run();
    const verified = ["Ready=True Succeeded", "ArtifactInStorage=True Succeeded", "SourceVerified=True Succeeded"];
    expect(conditions()).toEqual(verified);
    all.held.delete("a");
    await run();
    expect(conditions()).toEqual(expect.arrayContaining(["FetchFailed=True ReadOperationFailed", verified[2]]));

    all.held.set("a", { version: "v2", signed: false, files: {} });
    await run();
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False AuthenticationFailed",
      "ArtifactInStorage=True Succeeded",
      "ArtifactOutdated=True NewRevision",
      "SourceVerified=False AuthenticationFailed",
    ]);
    expect(status().artifact?.revision).toBe("v1");
    bucket({ suspend: true });
    await run();
    expect(conditions()).toContain("Ready=False AuthenticationFailed");

    all.held.set("a", { version: "v3", signed: true, files: {} });
    bucket();
    await run();
    expect(conditions()).toEqual(verified);
  });

  test("reports a lasting outage like an OCIRepository, and keeps its artifact", async () => {
    bucket();
    await run();
    all.away.add("a");
    await outlast(10_000);
    expect(conditions()).toContain("Ready=True Succeeded");
    await outlast(60_000);
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False ReadOperationFailed",
      "ArtifactInStorage=True Succeeded",
      "FetchFailed=True ReadOperationFailed",
    ]);
    expect(message()).toBe("shelf 'a' does not answer");
    expect(status().artifact?.revision).toBe("v1");
    all.away.clear();
    await outlast(1);
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
  });

  test("keeps finalizers of other controllers when it adds its own, and when it is deleted", async () => {
    const others = ["example.com/before", "example.com/finalizers.fluxcd.io"];
    const metadata = { name: "app", namespace: "apps", finalizers: others };
    const spec = { interval: "1h", shelf: "a" };
    world.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "Bucket", metadata, spec });
    await run();
    expect(world.get("app").metadata.finalizers).toEqual([...others, "finalizers.fluxcd.io"]);
    world.delete("app");
    await run();
    await run();
    expect(world.get("app").metadata.finalizers).toEqual(others);
  });

  test("is deleted with all records about it", async () => {
    bucket();
    await run();
    world.delete("app");
    expect(await run()).toMatchObject({ outcome: "deleted" });
    expect(world.has("app")).toBe(false);
    expect([...world.recorded]).toEqual([]);
  });
});

test("the time of a condition changes only with its status, reason or message", () => {
  const was: Condition = {
    type: "Ready",
    status: "True",
    reason: "Succeeded",
    message: "a",
    lastTransitionTime: "2026-11-21T12:00:00Z",
    observedGeneration: 1,
  };
  const now = "2026-11-21T13:00:00Z";
  const timeAfter = (changes: Partial<Condition>) =>
    withTimesOf(
      { conditions: [{ ...was, type: "Reconciling" }, was] },
      { conditions: [{ ...was, lastTransitionTime: now, ...changes }] },
    ).conditions?.map(({ lastTransitionTime }) => lastTransitionTime);
  expect(timeAfter({})).toEqual([was.lastTransitionTime]);
  expect(timeAfter({ observedGeneration: 2 })).toEqual([was.lastTransitionTime]);
  for (const change of [{ status: "False" }, { reason: "Failed" }, { message: "b" }, { type: "ReadyOld" }] as const) {
    expect(timeAfter(change)).toEqual([now]);
  }
});
