import { describe, expect, test } from "vitest";
import { type LookDeps, lookAtObject } from "../../../functions/look-at-object.ts";
import { clusterSweep } from "../../../functions/sweep-cluster.ts";
import type { Metadata } from "../../../lib/core/manifest.ts";
import { ApiError, type ListQuery } from "../../../lib/core/ports/cluster.ts";
import type { Look } from "../../../lib/core/ports/wake-ups.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { configKinds } from "../../../lib/queue/observed-kinds.ts";
import { sqliteObservedResources } from "../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { openLimits } from "../../doubles/open-limits.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";

const kind = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
const secretKey: WorkKey = { cluster: "home", group: "", kind: "Secret", namespace: "apps", name: "vars" };
type Live = Metadata & { uid: string };

/** No time passes, so only its signal ends a wait. */
const untilAborted = (_ms: number, signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** A cluster with these objects by name, in which `web` takes variables from Secret `vars`; who is asked to run, and what is sent. */
function lookWorld(deps: Partial<LookDeps> = {}) {
  const database = openStateDatabase(":memory:");
  const live = new Map<string, Live>();
  const asked: string[] = [];
  const sent: { look: Look; delayMs: number }[] = [];
  const queries: ListQuery[] = [];
  const log = recordedLog();
  const requests = { request: async ({ name }: WorkKey) => void asked.push(name) };
  const subscriptions = {
    subscribers: async (topic: string) => (topic === "cfg#home/Secret/apps/vars" ? [keyOf("web")] : []),
  };
  const home = {
    async listMetadata(query: ListQuery) {
      queries.push(query);
      const name = query.fieldSelector?.replace("metadata.name=", "");
      return [...live]
        .filter(
          ([one, { labels }]) => (name ?? one) === one && (query.kind === "Kustomization") === (labels === undefined),
        )
        .map(([, metadata]) => ({ apiVersion: "v1", kind: query.kind, metadata }));
    },
  };
  const clock = { now: () => 0, monotonic: () => 0, sleep: untilAborted };
  const parts = {
    clusters: { get: (id: string) => (id === "home" ? { gate: openGate, home } : undefined) },
    kinds: [kind, ...configKinds("watched=Enabled", { subscriptions, requests })],
    limits: openLimits,
    observed: sqliteObservedResources(database),
    ...{ requests, subscriptions, clock, log },
    metrics: recordedMetrics(),
    looks: { send: async (look: Look, delayMs: number) => void sent.push({ look, delayMs }) },
    ...deps,
  };
  const look = lookAtObject(parts);
  const sweep = clusterSweep({ ...parts, limits: openLimits, sweepLeases: { take: async () => true } });
  return {
    ...{ live, asked, sent, queries, log },
    look: (key: WorkKey, before?: Look["before"], tries = 0) =>
      look({ key: formatWorkKey(key), tries, ...(before === undefined ? {} : { before }) }, never),
    sweep: () => sweep("home", never),
    [Symbol.dispose]: () => database.close(),
  };
}

const web = (generation = 1, resourceVersion = String(generation)): Live => ({
  ...{ name: "web", namespace: "apps", uid: "u", generation, resourceVersion },
});
const beforeOf = ({ uid, resourceVersion = "" }: Live) => ({ uid, resourceVersion });

describe("a look at an object that is about to change", () => {
  test("requests its run once the change is visible, reads one object's metadata for that, and waits no longer", async () => {
    using world = lookWorld();
    world.live.set("web", web());
    await world.look(keyOf("web"));
    expect(world.asked).toEqual(["web"]);
    expect(world.queries).toEqual([{ ...kind, namespace: "apps", fieldSelector: "metadata.name=web" }]);
    world.live.set("web", web(2));
    await world.look(keyOf("web"), beforeOf(web()));
    expect(world.asked).toEqual(["web", "web"]);
    expect(world.sent).toEqual([]);
  });

  test("checks once more, 4 s later, if the change is not visible, and then leaves it to the sweep", async () => {
    using world = lookWorld();
    await world.look(keyOf("web"));
    expect(world.sent).toEqual([{ look: { key: formatWorkKey(keyOf("web")), tries: 1 }, delayMs: 4_000 }]);
    await world.look(keyOf("web"), undefined, 1);
    expect([world.sent.length, world.asked]).toEqual([1, []]);

    world.live.set("web", web());
    await world.look(keyOf("web"));
    await world.look(keyOf("web"), beforeOf(web()));
    expect([world.sent.length, world.asked]).toEqual([2, ["web"]]);
  });

  test("ends for a change that needs no run, for example of a label, once it is visible", async () => {
    using world = lookWorld();
    world.live.set("web", web());
    await world.look(keyOf("web"));
    world.live.set("web", web(1, "2"));
    await world.look(keyOf("web"), beforeOf(web()));
    expect([world.sent, world.asked]).toEqual([[], ["web"]]);
  });

  test("requests a last run of a deleted object, and none of an unknown one", async () => {
    using world = lookWorld();
    world.live.set("web", web());
    await world.look(keyOf("web"));
    world.live.clear();
    await world.look(keyOf("web"), beforeOf(web()));
    expect([world.sent, world.asked]).toEqual([[], ["web", "web"]]);
    await world.look(keyOf("web"), beforeOf(web()));
    expect([world.sent.length, world.asked]).toEqual([1, ["web", "web"]]);
  });

  test("at a Secret depends on its labels, and requests runs of its subscribers", async () => {
    using world = lookWorld();
    const vars = { name: "vars", namespace: "apps", uid: "v", labels: { watched: "Enabled" } };
    world.live.set("vars", { ...vars, resourceVersion: "1" });
    await world.look(secretKey);
    expect(world.queries).toMatchObject([{ kind: "Secret", labelSelector: "watched=Enabled" }]);
    await world.look(secretKey, { uid: "v", resourceVersion: "0" });
    world.live.set("vars", { ...vars, resourceVersion: "2" });
    await world.look(secretKey, { uid: "v", resourceVersion: "1" });
    expect([world.asked, world.sent]).toEqual([["web", "web"], []]);
  });

  test.each<{ name: string; deps: Partial<LookDeps>; key?: WorkKey }>([
    { name: "another cluster", deps: {}, key: { ...keyOf("web"), cluster: "elsewhere" } },
    { name: "another kind", deps: {}, key: { ...keyOf("web"), kind: "Pod" } },
    { name: "a cluster that is known to give no answer", deps: { limits: { answers: async () => false } } },
    {
      name: "a cluster that may not be written to",
      deps: {
        clusters: {
          get: () => ({
            gate: { enter: () => Promise.reject(new GateClosed("paused", "paused")) },
            home: { listMetadata: () => Promise.reject(new Error("must not be asked")) },
          }),
        },
      },
    },
  ])("at $name requests no run and sends nothing", async ({ deps, key = keyOf("web") }) => {
    using world = lookWorld(deps);
    world.live.set("web", web());
    await world.look(key);
    expect([world.queries, world.asked, world.sent]).toEqual([[], [], []]);
    expect(world.log.lines.filter((line) => "error" in line)).toEqual([]);
  });

  test("without an answer is not repeated, because the sweep checks later", async () => {
    const refused = new ApiError({ code: 503, reason: "ServiceUnavailable", message: "busy" });
    const home = { listMetadata: () => Promise.reject(refused) };
    using world = lookWorld({ clusters: { get: () => ({ gate: openGate, home }) } });
    await world.look(keyOf("web"));
    expect(world.sent).toEqual([]);
    expect(world.log.lines).toEqual([expect.objectContaining({ error: "busy" })]);
  });
});

/** mulberry32 */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A change that took effect. */
interface Shown {
  readonly name: string;
  readonly at: number;
  readonly createdAt: number;
  readonly isDeleted: boolean;
}

interface Faults {
  readonly dropped: number;
  readonly doubled: number;
  /** Messages come so much later, each by another time. */
  readonly lateMs: number;
  /** A change shows so much after its hint. */
  readonly showsWithinMs: number;
}

/** Five minutes of changes to three objects, with a sweep each minute; when each change showed, and when runs were asked for. */
async function story(seed: number, { dropped, doubled, lateMs, showsWithinMs }: Faults) {
  const next = random(seed);
  const due: { at: number; act: () => Promise<void> | void }[] = [];
  let now = 0;
  const later = (ms: number, act: () => Promise<void> | void): void => void due.push({ at: now + ms, act });
  const asked: { name: string; at: number }[] = [];
  const shown: Shown[] = [];
  /** When each object that is there was created. */
  const since = new Map<string, number>();
  const post = (look: Look, delayMs: number): void => {
    if (next() < dropped) return;
    for (let copies = next() < doubled ? 2 : 1; copies > 0; copies--) {
      later(delayMs + next() * lateMs, () => world.look(keyOf(look.key), look.before, look.tries));
    }
  };
  using world = lookWorld({
    requests: { request: async ({ name }) => void asked.push({ name, at: now }) },
    looks: { send: async (look, delayMs) => post({ ...look, key: look.key.split("/").at(-1) ?? "" }, delayMs) },
  });
  let versions = 0;
  const change = (name: string): void => {
    const before = world.live.get(name);
    const version = String(++versions);
    post({ key: name, tries: 0, ...(before === undefined ? {} : { before: beforeOf(before) }) }, 1_000);
    // Another webhook refuses some, and then nothing shows.
    if (next() < 0.2) return;
    const isDeleted = before !== undefined && next() < 0.3;
    later(next() * showsWithinMs, () => {
      if (isDeleted && !world.live.has(name)) return;
      const createdAt = since.get(name) ?? now;
      if (isDeleted) {
        world.live.delete(name);
        since.delete(name);
      } else {
        since.set(name, createdAt);
        const { uid = version, generation = 0 } = world.live.get(name) ?? {};
        world.live.set(name, { ...web(generation + 1, version), name, uid });
      }
      shown.push({ name, at: now, createdAt, isDeleted });
    });
  };
  for (let at = 0; at < 300_000; at += 5_000 + Math.floor(next() * 10_000)) {
    later(at, () => change(["web", "db", "queue"][Math.floor(next() * 3)] ?? ""));
  }
  for (let minute = 1; minute <= 7; minute++) later(minute * 60_000, () => world.sweep());
  for (;;) {
    due.sort((a, b) => b.at - a.at);
    const first = due.pop();
    if (first === undefined) break;
    now = first.at;
    await first.act();
  }
  return { asked, shown };
}

/** The changes after which no run was asked for in time. Not those that the next one covers, nor the end of what nobody had seen. */
function missedIn({ asked, shown }: Awaited<ReturnType<typeof story>>, withinMs: number): readonly Shown[] {
  const isAsked = (name: string, from: number, to: number) =>
    asked.some((run) => run.name === name && run.at >= from && run.at <= to);
  return shown.filter(({ name, at, createdAt, isDeleted }, index) => {
    if (shown.slice(index + 1).some((later) => later.name === name && later.at <= at + withinMs)) return false;
    return !isAsked(name, at, at + withinMs) && (!isDeleted || isAsked(name, createdAt, at));
  });
}

const seeds = Array.from({ length: 100 }, (_, seed) => seed);

describe("hints that are lost, duplicated, late and out of order", () => {
  test.each<{ name: string; faults: Faults; withinMs: number }>([
    { name: "no loss", faults: { dropped: 0, doubled: 0, lateMs: 0, showsWithinMs: 900 }, withinMs: 1_000 },
    { name: "slow changes", faults: { dropped: 0, doubled: 0, lateMs: 0, showsWithinMs: 4_900 }, withinMs: 5_000 },
    { name: "all doubled", faults: { dropped: 0, doubled: 1, lateMs: 500, showsWithinMs: 900 }, withinMs: 1_500 },
    {
      name: "late, in any order",
      faults: { dropped: 0, doubled: 0.5, lateMs: 20_000, showsWithinMs: 900 },
      withinMs: 21_000,
    },
    {
      name: "half of them lost",
      faults: { dropped: 0.5, doubled: 0.5, lateMs: 20_000, showsWithinMs: 8_000 },
      withinMs: 60_000,
    },
    { name: "all lost", faults: { dropped: 1, doubled: 0, lateMs: 0, showsWithinMs: 30_000 }, withinMs: 60_000 },
  ])(
    "$name: every visible change gets its run in time, and no run is requested twice",
    async ({ faults, withinMs }) => {
      for (const seed of seeds) {
        const told = await story(seed, faults);
        expect({ seed, missed: missedIn(told, withinMs) }).toEqual({ seed, missed: [] });
        expect(told.asked.length).toBeLessThanOrEqual(told.shown.length);
      }
    },
  );
});
