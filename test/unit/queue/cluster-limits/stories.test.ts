import { describe, expect, test } from "vitest";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { keyOf, never, workItem } from "../../../contract/state-back-end.ts";
import { clusterWorld, type StoryRun, storyCluster } from "./world.ts";

const minuteMs = 60_000;
/** Each seed has other clocks, wrong by up to five minutes. */
const seeds = [1, 2, 3, 4, 5];
const names = (count: number) => Array.from({ length: count }, (_, number) => `o${number}`);

type ClusterWorld = ReturnType<typeof clusterWorld>;

/** Asks for a run of one object every ten seconds, and answers how long each request waited for a run to begin. */
function watched(world: ClusterWorld, cluster: string, count: number): () => readonly number[] {
  const asked: { readonly name: string; readonly at: number }[] = [];
  for (let number = 0; number < count; number += 1) {
    world.time.in(number * 10_000, () => {
      asked.push({ name: `watched-${number}`, at: world.time.now() });
      world.request(cluster, `watched-${number}`);
    });
  }
  return () =>
    asked.map(({ name, at }) => {
      const run = world.runs.find((one) => one.cluster === cluster && one.name === name);
      return (run?.from ?? Number.POSITIVE_INFINITY) - at;
    });
}

const ranOf = (runs: readonly StoryRun[]) => new Set(runs.filter(({ to }) => to !== undefined).map(({ name }) => name));

describe("a dead cluster of two", () => {
  test.for(seeds)(
    "delays no run of the other, costs its own objects no attempts, and all of them run once it is back: %i",
    async (seed) => {
      const [dead, alive] = [storyCluster("dead", { answers: false }), storyCluster("alive")];
      const world = clusterWorld([dead, alive], { seed });
      const waits = watched(world, "alive", 120);
      for (const name of names(60)) world.request("dead", name);
      await world.pass(2 * minuteMs);
      const until = world.runs.length;
      const tokens = names(60).map((name) => world.item({ ...keyOf(name), cluster: "dead" })?.token);
      // It goes on to be asked for.
      for (let minute = 0; minute < 10; minute += 1) {
        for (const name of names(60)) world.request("dead", name);
        await world.pass(minuteMs);
      }
      expect(world.runs.slice(until).filter(({ cluster }) => cluster === "dead")).toEqual([]);
      expect(names(60).map((name) => world.item({ ...keyOf(name), cluster: "dead" })?.token)).toEqual(tokens);
      const messages = world.log.lines.map(({ message }) => message);
      expect(messages).toContain("cluster does not answer, its runs wait");
      expect(messages).not.toContain("cluster answers again, what waited is woken");
      const unreachable = world.metrics.recorded.filter(([, measures]) => "ClusterUnreachable" in measures);
      expect(unreachable.length).toBeGreaterThanOrEqual(9);
      expect(unreachable[0]).toEqual(["Cluster//", { ClusterUnreachable: 1 }]);

      dead.answers = true;
      const back = world.time.now();
      await world.pass(10 * minuteMs);
      expect(ranOf(world.runs.filter(({ cluster, from }) => cluster === "dead" && from >= back))).toEqual(
        new Set(names(60)),
      );
      expect(world.log.lines.map(({ message }) => message)).toContain("cluster answers again, what waited is woken");
      for (const name of names(60)) {
        const item = world.item({ ...keyOf(name), cluster: "dead" });
        expect(item).toMatchObject({ attempts: 0, lease: undefined, phase: "Active" });
        expect(item?.handled).toBe(item?.requested);
      }
      expect(Math.max(...waits())).toBeLessThan(12_000);
      expect(world.states.get("dead")?.hold).toBeUndefined();
    },
  );

  test("with 200 waiting objects runs them all within seven minutes after it answers, at most twice its cap at once", async () => {
    const dead = storyCluster("dead", { answers: false, maxRuns: 5, runMs: 300 });
    const world = clusterWorld([dead], { seed: 7 });
    for (const name of names(200)) world.request("dead", name);
    await world.pass(30 * minuteMs);
    dead.answers = true;
    const back = world.time.now();
    await world.pass(7 * minuteMs);
    const after = world.runs.filter(({ from }) => from >= back);
    expect(ranOf(after)).toEqual(new Set(names(200)));
    expect(world.mostAtOnce("dead", back)).toBeLessThanOrEqual(10);
  });
});

describe("a cluster with a flood of wake-ups and slow runs", () => {
  test.for([
    { seed: 1, count: 1_000 },
    { seed: 2, count: 200 },
    { seed: 3, count: 200 },
  ])("does not delay wake-ups of another cluster, and all its objects run: %o", async ({ seed, count }) => {
    const [flooded, other] = [storyCluster("flooded", { runMs: 20_000 }), storyCluster("other")];
    const world = clusterWorld([flooded, other], { seed });
    for (const name of names(count)) world.request("flooded", name);
    const waits = watched(world, "other", 60);
    await world.pass(10 * minuteMs);
    expect(Math.max(...waits())).toBeLessThan(10_000);
    // Five processes of ten places, without a cap 50: in waves they begin before they know of each other.
    expect(world.mostAtOnce("flooded")).toBeLessThanOrEqual(40);
    await world.pass(6 * minuteMs);
    expect(ranOf(world.runs.filter(({ cluster }) => cluster === "flooded")).size).toBe(count);
    const items = names(count).map((name) => world.item({ ...keyOf(name), cluster: "flooded" }));
    expect(items.every((item) => item?.attempts === 0 && item.lease === undefined)).toBe(true);
    expect(world.runs.length).toBe(count + 60);
  });
});

describe("a process that dies with busy rows", () => {
  test.for(seeds)("frees its share within 30 s: %i", async (seed) => {
    const world = clusterWorld([storyCluster("busy", { runMs: 20 * minuteMs })], { seed, processes: 1, places: 20 });
    for (const name of names(30)) world.request("busy", name);
    await world.pass(minuteMs);
    expect(world.mostAtOnce("busy")).toBe(20);
    const other = world.start("p2");
    other.free = 0;
    const enter = async (): Promise<string | undefined> => {
      let kind: string | undefined;
      other.machine.resume(
        () => void other.limits.enter("busy", other.machine.signal).then((answer) => (kind = answer.kind)),
      );
      await world.pass(1_000);
      return kind;
    };
    expect(await enter()).toBe("full");
    for (const { machine } of world.processes.slice(0, 1)) machine.crash();
    const crashed = world.time.now();
    let kind = await enter();
    while (kind !== "admitted" && world.time.now() < crashed + 10 * minuteMs) kind = await enter();
    expect(world.time.now() - crashed).toBeLessThanOrEqual(32_000);
    // The row is gone, for those who look for the first time too.
    await world.pass(6_000);
    await enter();
    expect(world.states.get("busy")?.busy.filter(({ process }) => process === "p1")).toEqual([]);
  });
});

describe("the metric of clusters that do not answer", () => {
  const told = ({ metrics }: ClusterWorld) =>
    metrics.recorded.filter(([, measures]) => "ClusterUnreachable" in measures).length;

  test("counts nothing if three clusters miss one sweep each, nor if one cluster misses three that are not in a row", async () => {
    const clusters = ["a", "b", "c", "a", "b", "a"].map((id) => storyCluster(id));
    const world = clusterWorld(clusters.slice(0, 3));
    for (const { id } of clusters) {
      const cluster = world.clusters.get(id);
      if (cluster === undefined) throw new Error(`no cluster ${id}`);
      cluster.answers = false;
      await world.pass(minuteMs / 2);
      expect(world.states.get(id)?.hold).toMatchObject({ kind: "unreachable", missedSweeps: 1 });
      cluster.answers = true;
      await world.pass(minuteMs / 2);
    }
    expect(told(world)).toBe(0);
  });

  test("counts each sweep from the third in a row on that a cluster misses, also if runs have found out before", async () => {
    const dead = storyCluster("dead", { answers: false });
    const world = clusterWorld([dead, storyCluster("alive")]);
    world.sweeps = false;
    for (const name of names(5)) world.request("dead", name);
    await world.pass(minuteMs);
    expect(world.states.get("dead")?.hold?.missedSweeps).toBeUndefined();
    world.sweeps = true;
    await world.pass(2 * minuteMs);
    expect(told(world)).toBe(0);
    await world.pass(3 * minuteMs);
    expect(told(world)).toBe(3);
  });

  test("counts a cluster that answers a small read and no sweep, which gets no hold", async () => {
    const world = clusterWorld([storyCluster("slow")], { processes: 1 });
    world.sweeps = false;
    const [process] = world.processes;
    const sweeps = async (count: number) => {
      for (let number = 0; number < count; number += 1) {
        const work = () => Promise.reject(new ApiError({ code: 0, reason: "Unreachable", message: "no list" }));
        process?.machine.resume(() => void process.limits.probe("slow", work, never).catch(() => undefined));
        await world.pass(minuteMs);
      }
    };
    await sweeps(2);
    expect([told(world), world.states.get("slow")?.hold]).toEqual([0, undefined]);
    await sweeps(2);
    expect(told(world)).toBe(2);
  });
});

describe("an outage of the table's cluster rows", () => {
  test("does not stop runs, neither of a cluster on hold nor of one that is full elsewhere", async () => {
    const [held, full] = [storyCluster("held", { maxRuns: 10 }), storyCluster("full", { maxRuns: 10 })];
    const world = clusterWorld([held, full], { processes: 1 });
    const hold = { kind: "unreachable", reason: "no answer", since: 0, probes: 1 } as const;
    world.states.set("held", { hold, busy: [] });
    world.states.set("full", { hold: undefined, busy: [{ process: "p9", runs: 10, renewals: 1 }] });
    world.sweeps = false;
    world.request("held", "web");
    world.request("full", "web");
    await world.pass(4_000);
    expect(world.runs).toEqual([]);
    world.counts.statesAway = true;
    await world.pass(20_000);
    world.request("held", "web2");
    await world.pass(minuteMs);
    expect(new Set(world.runs.map(({ cluster, name }) => `${cluster}/${name}`))).toEqual(
      new Set(["full/web", "held/web2"]),
    );
  });
});

describe("failures that are not the cluster's fault", () => {
  test("runs that cannot reach another service put no hold on the cluster, because the cluster itself answers", async () => {
    const cluster = storyCluster("a", { answers: false });
    const world = clusterWorld([cluster], { seed: 3, processes: 1 });
    world.sweeps = false;
    for (const name of names(10)) world.request("a", name);
    // The registry is away, say: the runs see no answer, and whoever asks the cluster gets one.
    await world.pass(5_000);
    cluster.answers = true;
    await world.pass(minuteMs);
    expect(world.states.get("a")?.hold).toBeUndefined();
    expect(ranOf(world.runs)).toEqual(new Set(names(10)));
  });

  test("a hold that is no longer probed does not count", async () => {
    const world = clusterWorld([storyCluster("a")], { processes: 1 });
    world.sweeps = false;
    world.states.set("a", { hold: { kind: "unreachable", reason: "no answer", since: 0, probes: 9 }, busy: [] });
    const waits = watched(world, "a", 24);
    await world.pass(5 * minuteMs);
    const [before, after] = [waits().slice(0, 17), waits().slice(19)];
    expect(before.every((ms) => ms === Number.POSITIVE_INFINITY)).toBe(true);
    expect(Math.max(...after)).toBeLessThan(1_000);
  });
});

describe("a cluster whose feature gate is closed", () => {
  test.for(seeds)(
    "hides no overdue object of another cluster, is skipped by the sweep, and resumes when the gate opens: %i",
    async (seed) => {
      const [paused, other] = [storyCluster("paused", { refused: "paused" }), storyCluster("other")];
      const world = clusterWorld([paused, other], { seed });
      const overdue = { started: 1, handled: 1, dueAt: 5 };
      for (const name of names(1_000)) world.put(workItem({ ...keyOf(name), cluster: "paused" }, overdue));
      for (const name of names(50)) world.put(workItem({ ...keyOf(name), cluster: "other" }, overdue));
      await world.pass(2 * minuteMs);
      expect(ranOf(world.runs)).toEqual(new Set(names(50)));
      expect(world.runs.every(({ cluster }) => cluster === "other")).toBe(true);
      const { messages } = world.counts;
      await world.pass(5 * minuteMs);
      expect(world.counts.messages).toBe(messages);
      paused.refused = undefined;
      // A push runs at once, whatever the sweep was told.
      world.request("paused", "o7");
      await world.pass(7_000);
      expect(world.runs.some(({ cluster, name }) => cluster === "paused" && name === "o7")).toBe(true);
      await world.pass(4 * minuteMs);
      expect(ranOf(world.runs.filter(({ cluster }) => cluster === "paused")).size).toBe(1_000);
    },
  );
});

test("a closed gate makes a wake-up that meets it tell the sweep at once", async () => {
  const world = clusterWorld([storyCluster("paused", { refused: "paused" })], { processes: 1 });
  world.sweeps = false;
  world.request("paused", "web");
  await world.pass(2_000);
  expect(world.states.get("paused")?.hold).toMatchObject({ kind: "refused" });
});

test("a process publishes its number of runs to the others while it has longer runs", async () => {
  const cluster = storyCluster("a", { runMs: 60_000 });
  const world = clusterWorld([cluster], { processes: 1 });
  world.sweeps = false;
  for (const name of names(3)) world.request("a", name);
  await world.pass(7_000);
  expect(world.states.get("a")?.busy).toEqual([{ process: "p1", runs: 3, renewals: 1 }]);
  await world.pass(40_000);
  expect(world.states.get("a")?.busy).toEqual([{ process: "p1", runs: 3, renewals: 9 }]);
  await world.pass(20_000);
  expect(ranOf(world.runs)).toEqual(new Set(names(3)));
  expect(world.states.get("a")?.busy).toEqual([]);
});

test("a cluster that is not busy costs at most one query every five seconds, and no write", async () => {
  const world = clusterWorld([storyCluster("a")], { processes: 1 });
  world.sweeps = false;
  for (let second = 0; second < 60; second += 1) {
    world.request("a", `o${second}`);
    await world.pass(1_000);
  }
  expect(world.runs).toHaveLength(60);
  expect(world.counts.writes).toBe(0);
  expect(world.counts.reads).toBeLessThanOrEqual(13);
});
