import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findCondition } from "../../../lib/api/condition.ts";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";
import { type SpawnedLocal, spawnLocal } from "../../../local/sluice-process.ts";
import { deadlineMs, testTimeoutMs, untilDeadline } from "../../deadline.ts";
import { inGateOrDeep } from "../../size.ts";
import { configMap, followApp, type LocalWorld, localWorld } from "../local/local-world.ts";

const { signal } = new AbortController();
const patient = { timeout: deadlineMs, interval: 50 };
const manyObjects = inGateOrDeep(100, 200);
const kills = inGateOrDeep(4, 20);
const seed = 20261121;
const app = { namespace: "default", name: "app" };
const kustomizationRef = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization", ...app };

let world: LocalWorld;
let local: SpawnedLocal;
let cluster: Cluster;

beforeAll(async () => {
  world = await localWorld();
  await start();
  await followApp(cluster, local);
});
afterAll(() => world[Symbol.asyncDispose]());

async function start(): Promise<void> {
  local = await world.start("--verbose");
  cluster = await world.cluster(local);
}

/** What the artifact of a round holds: each round changes all objects, brings ten and takes ten away. */
function names(round: number, count = manyObjects): string[] {
  return Array.from({ length: count }, (_, index) => `m${String(round * 10 + index).padStart(4, "0")}`);
}

async function push(round: number, count = manyObjects): Promise<string> {
  return world.push(
    local,
    names(round, count).map((name) => configMap(name, String(round))),
  );
}

/** Pushes and starts again after the kill, which may take the answer to the push with it: then it is pushed once more. */
async function pushUntil(killed: Promise<unknown>, round: number, count = manyObjects): Promise<string> {
  const digest = await push(round, count).catch((error: unknown) => {
    if (!(error instanceof HttpError)) throw error;
    return undefined;
  });
  await killed;
  await start();
  return digest ?? push(round, count);
}

async function statusNow() {
  const live = await cluster.get(kustomizationRef, signal);
  return live === undefined ? undefined : parseKustomization(live).status;
}

async function readyNow(): Promise<string | undefined> {
  return findCondition((await statusNow())?.conditions ?? [], "Ready")?.message;
}

/** Everything that a user can see of the Kustomization's work. */
async function seen(): Promise<unknown> {
  const labelSelector = "kustomize.toolkit.fluxcd.io/name=app";
  const maps = await cluster.list({ group: "", version: "v1", kind: "ConfigMap", labelSelector }, signal);
  const status = await statusNow();
  return {
    ready: findCondition(status?.conditions ?? [], "Ready")?.message,
    inventory: (status?.inventory?.entries ?? []).map(({ id }) => id.split("_")[1] ?? "").toSorted(),
    objects: maps.map(({ metadata, data }) => `${metadata.name} ${JSON.stringify(data)}`).toSorted(),
  };
}

function readyAt(digest: string): string {
  return `Applied revision: v1@${digest}`;
}

/** Waits until the Kustomization says so: to look at all of it takes long, and begins then. */
async function applied(digest: string): Promise<void> {
  await expect.poll(readyNow, patient).toBe(readyAt(digest));
}

function wanted(digest: string, round: number, count = manyObjects): unknown {
  return {
    ready: readyAt(digest),
    inventory: names(round, count),
    objects: names(round, count).map((name) => `${name} ${JSON.stringify({ value: String(round) })}`),
  };
}

/** Sends a signal at the request that `isMoment` is true for; resolves when the process has ended. */
function endedAt(isMoment: (line: string) => boolean, how: NodeJS.Signals): Promise<number | NodeJS.Signals> {
  const { promise, resolve, reject } = Promise.withResolvers<number | NodeJS.Signals>();
  world.watchLog((line) => {
    if (!line.includes('"api request"') || !isMoment(line)) return false;
    const late = untilDeadline();
    late.addEventListener("abort", () => reject(new Error(`not ended by ${how} in time`)));
    local.end(how).then(resolve, reject);
    return true;
  });
  return promise;
}

function killedAt(isMoment: (line: string) => boolean): Promise<number | NodeJS.Signals> {
  return endedAt(isMoment, "SIGKILL");
}

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function random(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe("after a kill at any moment, the next start continues, and the result is the same as without the kill", () => {
  let round = 0;

  test(`${kills} times while ${manyObjects} objects are applied`, { timeout: 3 * testTimeoutMs }, async () => {
    const first = await push(++round);
    await applied(first);
    await expect.poll(seen, patient).toEqual(wanted(first, round));
    const next = random(seed);
    for (let kill = 0; kill < kills; kill++) {
      // Each round changes every object: there are as many dry runs, and then as many applies.
      let left = 1 + Math.floor(next() * 2 * manyObjects);
      const killed = killedAt(() => --left <= 0);
      const digest = await pushUntil(killed, ++round);
      await applied(digest);
      await expect.poll(seen, patient).toEqual(wanted(digest, round));
    }
  });

  test("while the source stores its artifact", async () => {
    const killed = killedAt((line) => line.includes("/ocirepositories/app/status"));
    const digest = await pushUntil(killed, ++round);
    await applied(digest);
    await expect.poll(seen, patient).toEqual(wanted(digest, round));
  });

  test("while objects are pruned", async () => {
    let left = 60;
    const killed = killedAt((line) => line.includes('"delete"') && --left <= 0);
    const digest = await pushUntil(killed, ++round, 20);
    await applied(digest);
    await expect.poll(seen, patient).toEqual(wanted(digest, round, 20));
  });

  test("on SIGTERM while objects are applied, it hands everything back within 5 s, and the next start continues", async () => {
    let left = 150;
    const ended = endedAt(() => --left <= 0, "SIGTERM");
    const digest = await push(++round);
    expect(await ended).toBe(0);
    // By its own clock, whatever the end of a process takes beside that.
    expect(world.log.filter((line) => line.includes("runs not ended in time"))).toEqual([]);
    const lines = world.log.length;
    await start();
    await applied(digest);
    await expect.poll(seen, patient).toEqual(wanted(digest, round));
    expect(world.log.slice(lines).filter((line) => line.includes("leases of an earlier process voided"))).toEqual([]);
  });

  test("while everything is deleted with the Kustomization", async () => {
    let left = 60;
    const killed = killedAt((line) => line.includes('"delete"') && --left <= 0);
    await cluster.delete(kustomizationRef, { propagation: "Background" }, signal);
    await killed;
    await start();
    await expect.poll(seen, patient).toEqual({ ready: undefined, inventory: [], objects: [] });
    await expect.poll(() => cluster.get(kustomizationRef, signal), patient).toBeUndefined();
  });
});

test("of two processes that start in one folder at once, one is ready and the other is refused by name", async () => {
  const folder = `${world.folder}/contended`;
  const started = await Promise.allSettled([1, 2].map(() => spawnLocal(["--state", folder], signal)));
  const ready = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  await Promise.all(ready.map((one) => one.end("SIGTERM")));
  expect(ready).toHaveLength(1);
  const refusals = started.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  expect(refusals.join("\n")).toContain(`the state folder ${folder} is in use by process ${ready[0]?.pid}`);
});
