import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { type Joining, joinClusters } from "../../../local/join-clusters.ts";
import type { ClusterEntry } from "../../../local/open-cluster.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const entryA: ClusterEntry = { name: "a", file: "/a" };
const entryB: ClusterEntry = { name: "b", file: "/b", context: "blue" };

/** How the tries of an entry end: with the id of its cluster, with an error, or, undefined, not before the process ends. */
type Ends = readonly (string | Error | undefined)[];

interface Played {
  readonly joining: Joining;
  /** The ids of the clusters that were handed over. */
  readonly served: string[];
  readonly log: string[];
  /** Ends the sleeps of so many milliseconds that are under way. */
  readonly wake: (ms: number) => Promise<void>;
}

function play(
  tries: ReadonlyMap<ClusterEntry, Ends>,
  serve: (id: string) => Promise<void> = () => Promise.resolve(),
): Played {
  const served: string[] = [];
  const log: string[] = [];
  const sleeping: { readonly ms: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleeping.push({ ms, end: resolve });
        signal.addEventListener("abort", () => reject(new Error("stopped")));
      }),
  };
  const next = new Map([...tries].map(([entry, ends]) => [entry, ends.values()]));
  const say = (message: string, fields: object = {}): void => void log.push(`${message} ${JSON.stringify(fields)}`);
  const joining = joinClusters(
    {
      entries: [...tries.keys()],
      async open(entry, onId, signal) {
        const end = next.get(entry)?.next().value;
        if (end === undefined) {
          return new Promise<never>((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(new Error("stopped")));
          });
        }
        if (end instanceof Error) throw end;
        onId(end);
        return { id: end };
      },
      async serve({ id }) {
        await serve(id);
        served.push(id);
      },
      clock,
      log: { ...silentLog, info: say, warn: say },
    },
    new AbortController().signal,
  );
  onTestFinished(() => joining.stop());
  return {
    joining,
    served,
    log,
    async wake(ms) {
      await expect.poll(() => sleeping.some((each) => each.ms === ms)).toBe(true);
      for (const each of sleeping.splice(0)) if (each.ms === ms) each.end();
    },
  };
}

test("two clusters are served, each under its own id, and known by the names that the user gave", async () => {
  const { joining, served } = play(
    new Map([
      [entryA, ["1"]],
      [entryB, ["2"]],
    ]),
  );
  await joining.begun;
  expect(served).toEqual(["1", "2"]);
  expect(joining.clusters()).toEqual([
    { name: "a", kubeconfig: "/a", id: "1" },
    { name: "b", kubeconfig: "/b", context: "blue", id: "2" },
  ]);
  expect([joining.nameOf("1"), joining.nameOf("2"), joining.nameOf("3")]).toEqual(["a", "b", undefined]);
});

test("an open cluster that cannot be served has its error in place of its id, and each new error is logged once", async () => {
  const faults = ["no room", "no room", "no disk"];
  const { joining, log, wake } = play(
    new Map([
      [entryA, ["1"]],
      [entryB, ["2", "2", "2"]],
    ]),
    async (id) => {
      if (id === "2") throw new Error(faults.shift());
    },
  );
  await joining.begun;
  for (let tries = 0; tries < 2; tries++) await wake(10_000);
  await expect.poll(() => faults.length).toBe(0);
  const { id, fault } = joining.clusters()[1] ?? {};
  expect({ id, fault }).toEqual({ id: undefined, fault: "no disk" });
  const warned = log.filter((line) => line.includes("not served"));
  expect(warned.map((line) => /no \w+/.exec(line)?.[0])).toEqual(["no room", "no disk"]);
});

test("the start fails with the error of the only cluster if that cannot be used", async () => {
  const { joining, log } = play(new Map([[entryA, [new Error("away")]]]));
  await expect(joining.begun).rejects.toThrow(/^away$/);
  expect(log).toEqual([]);
});

test("the start fails if no cluster can be used, with the reason of each", async () => {
  const { joining } = play(
    new Map([
      [entryA, [new Error("away")]],
      [entryB, [new Error("another installation has it")]],
    ]),
  );
  await expect(joining.begun).rejects.toThrow(
    "none of the 2 clusters can be used: a: away; b: another installation has it",
  );
});

test("a cluster that cannot be used is retried, logged once per reason, and served when it works", async () => {
  const { joining, served, log, wake } = play(
    new Map([
      [entryA, [new Error("away"), new Error("away"), "1"]],
      [entryB, ["2"]],
    ]),
  );
  await joining.begun;
  expect(served).toEqual(["2"]);
  expect(joining.clusters()[0]).toEqual({ name: "a", kubeconfig: "/a", fault: "away" });
  await wake(10_000);
  await wake(10_000);
  await expect.poll(() => served).toEqual(["2", "1"]);
  await expect.poll(() => joining.clusters()[0]).toEqual({ name: "a", kubeconfig: "/a", id: "1" });
  expect(log).toEqual([
    'cluster not served, trying again {"cluster":"a","retryMs":10000,"error":"away"}',
    'cluster served {"cluster":"b","id":"2"}',
    'cluster served {"cluster":"a","id":"1"}',
  ]);
});

test("a cluster that does not answer delays the others by at most 5 s", async () => {
  const { joining, wake } = play(
    new Map([
      [entryA, [undefined]],
      [entryB, ["2"]],
    ]),
  );
  await wake(5_000);
  await joining.begun;
  expect(joining.clusters()).toEqual([
    { name: "a", kubeconfig: "/a", fault: "it has not answered yet" },
    { name: "b", kubeconfig: "/b", context: "blue", id: "2" },
  ]);
});

test("two entries for the same cluster end the start, and are named", async () => {
  const { joining, served } = play(
    new Map([
      [entryA, ["1"]],
      [entryB, ["1"]],
    ]),
  );
  await expect(joining.begun).rejects.toThrow("a and b lead to the same cluster (1): name it once");
  expect(served).toEqual(["1"]);
});

test("an entry found after the start to be the same cluster as another is not served, and logged", async () => {
  const { joining, served, log, wake } = play(
    new Map([
      [entryA, [new Error("away"), "2"]],
      [entryB, ["2"]],
    ]),
  );
  await joining.begun;
  await wake(10_000);
  await expect.poll(() => log.at(-1)).toContain("b and a lead to the same cluster (2)");
  expect(served).toEqual(["2"]);
});
