import { describe, expect, test } from "vitest";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { ApiError, type Cluster, type WatchEvent, type WatchQuery } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { configKinds, type ObservedKind } from "../../../lib/queue/observed-kinds.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { watchResources } from "../../../local/watch-resources.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const kind = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
const listed: WatchEvent = { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: true };

function kustomization(name: string, metadata: Partial<LiveObject["metadata"]> = {}): LiveObject {
  return {
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name, namespace: "apps", uid: `uid-${name}`, generation: 1, ...metadata },
  };
}

function event(type: "ADDED" | "MODIFIED" | "DELETED", object: LiveObject): WatchEvent {
  return { type, object };
}

/** Every watch in turn gives these events; what follows the last never comes. Answers the requests that were made. */
async function requestsOf(
  watches: readonly (readonly (WatchEvent | ApiError)[])[],
  clock: Clock = { ...systemClock, sleep: async () => undefined },
  watched: ObservedKind = kind,
  queries: WatchQuery[] = [],
): Promise<readonly string[]> {
  const database = openStateDatabase(":memory:");
  const stop = new AbortController();
  const requested: string[] = [];
  let begun = 0;
  const cluster: Pick<Cluster, "watch"> = {
    async *watch(query) {
      queries.push(query);
      for (const next of watches[begun++] ?? []) {
        if (next instanceof ApiError) throw next;
        yield next;
      }
      stop.abort();
      throw new Error("the test ends");
    },
  };
  try {
    await watchResources(
      watched,
      {
        cluster,
        clusterId: "home",
        clock,
        log: silentLog,
        observed: sqliteObservedResources(database),
        subscriptions: { subscribers: async () => [] },
        requests: {
          async request(key) {
            requested.push(key.name);
          },
        },
      },
      stop.signal,
    );
    return requested;
  } finally {
    database.close();
  }
}

const requestedAt = { annotations: { "reconcile.fluxcd.io/requestedAt": "now" } };
const deleted = { deletionTimestamp: "2026-11-21T00:00:00Z" };

test("a change or the deletion of a labelled Secret requests a reconcile of its subscribers (124)", async () => {
  const queries: WatchQuery[] = [];
  const requests = { request: async () => undefined };
  const subscribed: string[] = [];
  const subscribers = async (topic: string) => (subscribed.push(topic), []);
  const [, secrets] = configKinds("watched=Enabled", { subscriptions: { subscribers }, requests });
  if (secrets === undefined) throw new Error("no Secrets");
  const vars = (resourceVersion: string) => kustomization("vars", { resourceVersion });
  const watched = [event("ADDED", vars("1")), listed, event("MODIFIED", vars("2")), event("DELETED", vars("2"))];
  await requestsOf([watched], undefined, secrets, queries);
  expect(queries).toEqual([expect.objectContaining({ labelSelector: "watched=Enabled", isMetadataOnly: true })]);
  expect(subscribed.filter((topic) => topic.startsWith("cfg#"))).toEqual(
    Array.from({ length: 3 }, () => "cfg#home/Secret/apps/vars"),
  );
});

describe("watching custom resources", () => {
  const tooOld = new ApiError({ code: 410, reason: "Expired", message: "too old resource version" });
  const broken = new ApiError({ code: 0, reason: "Unreachable", message: "the cluster broke off a watch" });

  test.each<{ name: string; events: (WatchEvent | ApiError)[]; again?: WatchEvent[]; requested: string[] }>([
    {
      name: "the objects that exist at first, one reconcile each",
      events: [event("ADDED", kustomization("a")), event("ADDED", kustomization("b")), listed],
      requested: ["a", "b"],
    },
    {
      name: "a new one",
      events: [listed, event("ADDED", kustomization("a"))],
      requested: ["a"],
    },
    {
      name: "a new generation",
      events: [listed, event("ADDED", kustomization("a")), event("MODIFIED", kustomization("a", { generation: 2 }))],
      requested: ["a", "a"],
    },
    {
      name: "a new requested time",
      events: [listed, event("ADDED", kustomization("a")), event("MODIFIED", kustomization("a", requestedAt))],
      requested: ["a", "a"],
    },
    {
      name: "the start of a deletion, and its end",
      events: [
        listed,
        event("ADDED", kustomization("a")),
        event("MODIFIED", kustomization("a", deleted)),
        event("DELETED", kustomization("a", deleted)),
      ],
      requested: ["a", "a", "a"],
    },
    {
      name: "an object deleted and created again under its name",
      events: [listed, event("ADDED", kustomization("a")), event("MODIFIED", kustomization("a", { uid: "another" }))],
      requested: ["a", "a"],
    },
    {
      name: "nothing for a new status or label (12)",
      events: [
        listed,
        event("ADDED", kustomization("a")),
        event("MODIFIED", kustomization("a", { resourceVersion: "2", labels: { x: "y" } })),
      ],
      requested: ["a"],
    },
    {
      name: "nothing for another annotation (12)",
      events: [
        listed,
        event("ADDED", kustomization("a", requestedAt)),
        event("MODIFIED", kustomization("a", { annotations: { ...requestedAt.annotations, x: "y" } })),
        event("MODIFIED", kustomization("a", { annotations: requestedAt.annotations, finalizers: ["x"] })),
      ],
      requested: ["a"],
    },
    {
      name: "nothing for a label while away (12)",
      events: [listed, event("ADDED", kustomization("a")), broken],
      again: [event("ADDED", kustomization("a", { annotations: { x: "y" }, labels: { x: "y" } })), listed],
      requested: ["a"],
    },
    {
      name: "nothing for an object that was deleted during the list",
      events: [event("ADDED", kustomization("a")), event("DELETED", kustomization("a")), listed],
      requested: [],
    },
  ])("requests a reconcile for: $name", async ({ events, again = [], requested }) => {
    expect(await requestsOf([events, again])).toEqual(requested);
  });

  test.each([
    { name: "too late for it", error: tooOld },
    { name: "cut off", error: broken },
  ])(
    "starts again if it is $name, and requests only reconciles of objects that changed meanwhile",
    async ({ error }) => {
      const before = ["same", "changed", "gone"].map((name) => event("ADDED", kustomization(name)));
      const after = [
        event("ADDED", kustomization("same")),
        event("ADDED", kustomization("changed", { generation: 2 })),
        event("ADDED", kustomization("new")),
      ];
      expect(await requestsOf([[...before, listed, error], [error], [...after, listed]])).toEqual([
        ...["same", "changed", "gone"],
        ...["changed", "new", "gone"],
      ]);
    },
  );

  test.each([
    {
      name: "at once, after pauses that grow to ten seconds",
      lastsMs: 999,
      pauses: [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000],
    },
    { name: "after a second, after a short pause", lastsMs: 1_000, pauses: Array.from({ length: 8 }, () => 200) },
  ])("starts again if it ends $name, however often it has reported the complete list", async ({ lastsMs, pauses }) => {
    const slept: number[] = [];
    let now = 0;
    const clock: Clock = {
      now: () => now,
      // Asked for when a watch begins and when it ends.
      monotonic: () => (now += lastsMs),
      sleep: async (ms) => void slept.push(ms),
    };
    await requestsOf(
      pauses.map(() => [listed, broken]),
      clock,
    );
    expect(slept).toEqual(pauses);
  });
});
