import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { SpawnedLocal } from "../../../local/sluice-process.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { deadlineMs } from "../../deadline.ts";
import { applied, configMap, followApp, type LocalWorld } from "../local/local-world.ts";
import { ownerOf, sluice } from "../two-installations/two-installations.ts";

const { signal } = new AbortController();
const patient = { timeout: deadlineMs, interval: 200 };
const app = {
  group: "kustomize.toolkit.fluxcd.io",
  version: "v1",
  kind: "Kustomization",
  namespace: "default",
  name: "app",
};
const Ended = z.object({ message: z.enum(["reconcile finished", "reconcile failed"]), cluster: z.string() });
const Status = z.object({
  status: z.object({ inventory: z.object({ entries: z.array(z.object({ id: z.string() })) }) }),
});

/** An API server of its own. */
export interface Plane {
  readonly kubeconfig: string;
  /** Ends it at once; its clients notice by themselves. */
  kill(): Promise<void>;
  /** Starts it again with what it had; undefined where that is not possible. */
  readonly restart?: () => Promise<void>;
}

/** How many runs have ended in a cluster that the log calls by this name. */
function roundsOf({ log }: LocalWorld, name: string): number {
  return log.filter((line) => line.startsWith("{") && Ended.safeParse(JSON.parse(line)).data?.cluster === name).length;
}

/** What the state holds of each cluster, without the cluster's id: kind of row and object. */
function rowsOf({ state }: LocalWorld, clusterId: string): readonly string[] {
  const database = openStateDatabase(join(state, "state.db"));
  try {
    const keyed = ["work_items", "edges", "sightings", "inventories", "artifact_records", "history"].flatMap((table) =>
      database.connection
        .prepare(`SELECT DISTINCT key FROM ${table} WHERE key LIKE ? || '/%' ORDER BY key`)
        .all(clusterId)
        .map(({ key }) => `${table} ${String(key).slice(clusterId.length)}`),
    );
    const claims = database.connection
      .prepare("SELECT id FROM claims WHERE cluster_uid = ? ORDER BY id")
      .all(clusterId);
    return [...keyed, ...claims.map(({ id }) => `claims ${String(id)}`)];
  } finally {
    database.close();
  }
}

async function inventoryOf(cluster: Cluster): Promise<readonly string[]> {
  const { status } = Status.parse(await cluster.get(app, signal));
  return status.inventory.entries.map(({ id }) => id).toSorted();
}

/** One `sluice local` on two clusters that hold objects of equal names; the second one dies and may come back. */
export async function severalClusters(world: LocalWorld, near: Plane, away: Plane): Promise<void> {
  const on = ["--kubeconfig", near.kubeconfig, "--kubeconfig", away.kubeconfig];
  const local = await world.start(...on);
  expect(local.clusters).toEqual(
    [near, away].map(({ kubeconfig }) => ({ name: kubeconfig, kubeconfig, id: expect.any(String) })),
  );
  const [nearId = "", awayId = ""] = local.clusters.map(({ id }) => id);
  expect(nearId).not.toBe(awayId);
  const nearCluster = await world.cluster(near);
  const awayCluster = await world.cluster(away);
  const both = (): Promise<readonly (readonly string[])[]> => Promise.all([nearCluster, awayCluster].map(applied));

  // One push reaches both, and equal names do not meet.
  await world.push(local, [configMap("a", "1"), configMap("b", "1")]);
  await Promise.all([followApp(nearCluster, local), followApp(awayCluster, local)]);
  await expect.poll(both, patient).toEqual([
    ["a=1", "b=1"],
    ["a=1", "b=1"],
  ]);
  await world.push(local, [configMap("a", "2"), configMap("b", "2")]);
  await expect.poll(both, patient).toEqual([
    ["a=2", "b=2"],
    ["a=2", "b=2"],
  ]);
  await expect.poll(() => inventoryOf(awayCluster), patient).toHaveLength(2);
  // What a run keeps last comes after its objects.
  const differing = (): readonly string[] => {
    const [atNear, atAway] = [rowsOf(world, nearId), rowsOf(world, awayId)];
    return [...atNear, ...atAway].filter((row) => !atNear.includes(row) || !atAway.includes(row));
  };
  await expect.poll(differing, patient).toEqual([]);
  expect(rowsOf(world, nearId).length).toBeGreaterThan(8);
  expect(await ownerOf(nearCluster)).toMatchObject({ installation: (await ownerOf(awayCluster)).installation });

  // The commands that read the state folder tell the clusters apart.
  for (const { kubeconfig } of [near, away]) {
    const given = ["--kubeconfig", kubeconfig, "--state", world.state];
    expect(await sluice("check", "--orphans", ...given)).toMatchObject({
      code: 0,
      said: expect.stringContaining("no orphans found"),
    });
    expect(await sluice("take-over", ...given)).toMatchObject({ said: expect.stringContaining("already belongs to") });
  }

  // What is deleted in one cluster stays in the other.
  const before = await inventoryOf(awayCluster);
  await nearCluster.delete(app, { propagation: "Background" }, signal);
  await expect.poll(both, patient).toEqual([[], ["a=2", "b=2"]]);
  expect(await inventoryOf(awayCluster)).toEqual(before);
  expect(rowsOf(world, awayId).filter((row) => row.startsWith("claims"))).toHaveLength(2);
  const kept = () => rowsOf(world, nearId).filter((row) => /^(claims|inventories)/.test(row));
  await expect.poll(kept, patient).toEqual([]);
  // Its finalizer goes last: before that, an apply would be to the object that is being deleted.
  await expect.poll(() => nearCluster.get(app, signal), patient).toBeUndefined();
  await followApp(nearCluster, local);
  await expect.poll(both, patient).toEqual([
    ["a=2", "b=2"],
    ["a=2", "b=2"],
  ]);

  // The dead one takes no round from the living one: a push costs that two runs, its source's and its Kustomization's.
  await away.kill();
  const [nearBefore, awayBefore] = [roundsOf(world, near.kubeconfig), roundsOf(world, away.kubeconfig)];
  const pushes = ["3", "4", "5", "6", "7"];
  for (const value of pushes) {
    await world.push(local, [configMap("a", value)]);
    await expect.poll(() => applied(nearCluster), patient).toEqual([`a=${value}`]);
  }
  expect(roundsOf(world, near.kubeconfig) - nearBefore).toBeGreaterThanOrEqual(pushes.length);
  expect(roundsOf(world, near.kubeconfig) - nearBefore).toBeLessThanOrEqual(4 * pushes.length);
  expect(roundsOf(world, away.kubeconfig) - awayBefore).toBeLessThanOrEqual(16 * pushes.length);
  expect(await local.end("SIGTERM")).toBe(0);
  await startBesideADeadOne(world, { near, away, on, nearCluster, awayCluster });

  const copy = join(world.folder, "copy");
  await copyFile(near.kubeconfig, copy);
  const twice = world.start("--kubeconfig", near.kubeconfig, "--kubeconfig", copy);
  await expect(twice).rejects.toThrow("sluice local ended with 1");
  await expect(twice).rejects.toThrow(/lead to the same cluster \(\S+\): name it once/);
}

interface Dead {
  readonly near: Plane;
  readonly away: Plane;
  readonly on: readonly string[];
  readonly nearCluster: Cluster;
  readonly awayCluster: Cluster;
}

/** A start while one of them is dead, and its return. */
async function startBesideADeadOne(
  world: LocalWorld,
  { near, away, on, nearCluster, awayCluster }: Dead,
): Promise<void> {
  const local: SpawnedLocal = await world.start(...on);
  expect(local.clusters).toMatchObject([{ id: expect.any(String) }, { fault: expect.any(String) }]);
  await world.push(local, [configMap("a", "8")]);
  await expect.poll(() => applied(nearCluster), patient).toEqual(["a=8"]);
  const said = (message: string): readonly string[] =>
    world.log.filter((line) => line.includes(message) && line.includes(JSON.stringify(away.kubeconfig)));
  expect(said("cluster not served, trying again")).toHaveLength(1);
  if (away.restart !== undefined) {
    const servedBefore = said('"cluster served"').length;
    await away.restart();
    await expect.poll(() => said('"cluster served"').length, patient).toBe(servedBefore + 1);
    await expect.poll(() => applied(awayCluster), patient).toEqual(["a=8"]);
  }
  expect(await local.end("SIGTERM")).toBe(0);
  const alone = await sluice("check", "--orphans", "--state", world.state, "--kubeconfig", near.kubeconfig);
  expect(alone.code).toBe(0);
}
