import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definedKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { type Manifest, refOf } from "../../../lib/core/manifest.ts";
import type { VersionedRef } from "../../../lib/core/object-ref.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { installedHolders, rightsManifests } from "../../../lib/definitions/cluster-rights.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { planUninstall, uninstall } from "../../../lib/definitions/uninstall.ts";
import { type OwnInstallation, ownerCheck } from "../../../lib/gate/cluster-owner.ts";
import { gatedCluster } from "../../../lib/gate/gated-cluster.ts";
import { pauseOf, resumeCluster } from "../../../lib/gate/pause.ts";
import { writeGate } from "../../../lib/gate/write-gate.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { repeatedTimeoutMs } from "../../deadline.ts";
import { fewKinds } from "../../doubles/few-kinds.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { configMap } from "../flow/sample-manifests.ts";
import { skippingClock } from "../flow/skipping-clock.ts";
import { type World, world } from "../flow/world.ts";

const self: OwnInstallation = { id: "story", version: "1", takeOverCommand: "sluice take-over" };
const { signal } = new AbortController();
const ownerRef = { group: "", version: "v1", kind: "ConfigMap", namespace: "kube-system", name: "sluice-owner" };
const maps = ["a", "b", "c"];
const apps = ["one", "two"];
/** Of an uninstall: a delete of each definition, right and object, and what comes before these. */
const mostWrites = fewKinds.length + 30;

/** A cluster of a story's own, whose deletes somebody else than the client has recorded. */
export interface AuditedCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  /** The path of every delete that the server was asked for, in order. */
  deletes(): Promise<readonly string[]>;
}

/** Ends the process, as far as a client can notice it. */
class Killed extends Error {
  override readonly name = "Killed";
}

/** A cluster whose client dies before the write of this number. The writes before it have ended. */
function killedBefore(cluster: Cluster, write: number): Cluster {
  let writes = 0;
  const sent: Promise<unknown>[] = [];
  const counted = async <Result>(send: () => Promise<Result>): Promise<Result> => {
    writes += 1;
    if (writes >= write) {
      await Promise.allSettled(sent);
      throw new Killed();
    }
    const answer = send();
    sent.push(answer);
    return answer;
  };
  return {
    ...cluster,
    create: (...args) => counted(() => cluster.create(...args)),
    patch: (...args) => counted(() => cluster.patch(...args)),
    delete: (...args) => counted(() => cluster.delete(...args)),
  };
}

/**
 * What `sluice uninstall` does to a cluster; on the embedded API server and on a real control plane.
 *
 * @param killEvery 1 to kill it before each of its writes, 3 before every third; undefined to leave that story out, and those that end the same
 *   way on every API server
 */
export function uninstallStories(
  name: string,
  open: () => Promise<AuditedCluster>,
  killEvery: number | undefined,
): void {
  describe(`uninstall on ${name}`, () => {
    let audited: AuditedCluster;
    let cluster: Cluster;
    let worlds = 0;
    const skipping = skippingClock();
    // Skips only the wait of 5 s or more until the pause counts. The polls for the garbage collector, at most 2 s apart (`maxPollMs`),
    // stay real: the collector of a real server works in real time.
    const clock = {
      ...skipping,
      sleep: (ms: number, stop: AbortSignal) => (ms > 2_000 ? skipping : systemClock).sleep(ms, stop),
    };
    const deps = (kinds = fewKinds) => ({ cluster, clock, kinds, report: () => {} });
    beforeAll(async () => {
      audited = await open();
      ({ cluster } = audited);
    });
    afterAll(() => audited[Symbol.asyncDispose]());

    /** Definitions, rights, an owner, and two Kustomizations that have applied their objects. */
    async function installed(kinds = fewKinds): Promise<World> {
      await installCrds(cluster, { clock: systemClock, log: silentLog, kinds }, signal);
      for (const manifest of installedHolders.flatMap((holder) => rightsManifests(holder))) {
        await cluster.apply(manifest, { manager: "sluice", force: true }, signal);
      }
      const gate = writeGate([ownerCheck(self, { cluster, clock })], { clock, log: silentLog });
      const made = await world(gatedCluster(cluster, gate), `uninstall-${worlds++}`);
      await made.publish(
        "v1",
        maps.map((each) => configMap(each)),
      );
      for (const app of apps) {
        await made.kustomization(app);
        await made.run(app);
      }
      return made;
    }
    const isThere = async (ref: VersionedRef): Promise<boolean> => (await cluster.get(ref, signal)) !== undefined;
    const workloads = async ({ namespace }: World): Promise<readonly string[]> => {
      const found = await cluster.list({ group: "", version: "v1", kind: "ConfigMap", namespace }, signal);
      return found.map(({ metadata }) => metadata.name).filter((each) => maps.includes(each));
    };
    const isClean = async (): Promise<boolean> => {
      const left = await planUninstall({ keepDefinitions: false }, deps(definedKinds), signal);
      return Object.values(left).every((part) => part === false || (Array.isArray(part) && part.length === 0));
    };
    const foreignDeletes = async (): Promise<readonly string[]> =>
      (await audited.deletes()).filter(
        (path) =>
          !/\/(kustomizations|ocirepositories|canaries|customresourcedefinitions|(cluster)?role(binding)?s)\/|sluice-owner/.test(
            path,
          ),
      );

    const strides = killEvery === undefined ? [] : [killEvery];

    test("removes objects, definitions, rights and owner, prunes nothing, and deletes no applied object", async () => {
      const made = await installed(definedKinds);
      const plan = await planUninstall({ keepDefinitions: false }, deps(definedKinds), signal);
      expect(plan.deleted.map((ref) => ref.name).toSorted()).toEqual(["one", "repo", "two"]);
      expect([plan.definitions.length, plan.rights.length, plan.hasOwner]).toEqual([definedKinds.length, 16, true]);
      await uninstall("eve", { keepDefinitions: false }, deps(definedKinds), signal);
      expect(await workloads(made)).toEqual(maps);
      expect([await isClean(), await isThere(ownerRef)]).toEqual([true, false]);
      expect(await foreignDeletes()).toEqual([]);
    });

    test("a Kustomization that is just being deleted with all its objects is removed without them", async () => {
      const made = await installed();
      await made.remove("one");
      await uninstall("eve", { keepDefinitions: false }, deps(), signal);
      expect([await workloads(made), await isClean()]).toEqual([maps, true]);
      expect(await foreignDeletes()).toEqual([]);
    });

    test.for(strides)("deletes all definitions before it waits for the first", async () => {
      await installed();
      let deletes = 0;
      const slow: Cluster = {
        ...cluster,
        delete: async (ref, ...more) => {
          if (ref.kind === "CustomResourceDefinition") deletes += 1;
          return cluster.delete(ref, ...more);
        },
        get: async (ref, stop) => {
          const live = await cluster.get(ref, stop);
          const isAwaited = deletes > 0 && deletes < fewKinds.length && ref.kind === "CustomResourceDefinition";
          if (isAwaited && live?.metadata.deletionTimestamp !== undefined) throw new Error(`waits for ${ref.name}`);
          return live;
        },
      };
      await uninstall("eve", { keepDefinitions: false }, { ...deps(), cluster: slow }, signal);
      expect([deletes, await isClean()]).toEqual([fewKinds.length, true]);
    });

    test.for(strides)(
      "killed between two of its writes, it can be run again, and the cluster is paused until the end",
      { timeout: repeatedTimeoutMs(mostWrites) },
      async (stride) => {
        const kills: number[] = [];
        // The last writes all delete a definition or a right: the gate skips most of them. Before the first write nothing has happened.
        const stepAfter = (write: number): number => (stride > 1 && write > 12 ? 2 * stride : stride);
        for (let write = stride > 1 ? 2 : 1; ; write += stepAfter(write)) {
          const made = await installed();
          const dying = { ...deps(), cluster: killedBefore(cluster, write) };
          const ended = await uninstall("eve", { keepDefinitions: false }, dying, signal).catch(
            (error: unknown) => error,
          );
          if (ended === undefined) break;
          kills.push(write);
          expect(ended).toBeInstanceOf(Killed);
          expect((await pauseOf(cluster, signal)) !== undefined).toBe(write > 1);
          // A Sluice that still runs does no harm meanwhile, paused or not.
          await made.run("one").catch(() => undefined);
          await uninstall("eve", { keepDefinitions: false }, deps(), signal);
          expect([await workloads(made), await isClean()]).toEqual([maps, true]);
        }
        // The pause; a release and a delete of each Kustomization; source, definitions, rights and owner.
        expect(kills).toEqual(expect.arrayContaining([2, 5, 8, 11, 14, 20]));
        // After its last write, it is run again on a clean cluster.
        await uninstall("eve", { keepDefinitions: false }, deps(), signal);
        expect([await isClean(), await foreignDeletes()]).toEqual([true, []]);
      },
    );

    test("with the definitions kept, their objects stay too, without our finalizer", async () => {
      const made = await installed();
      await uninstall("eve", { keepDefinitions: true }, deps(), signal);
      const kept = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
      const found = await cluster.list({ ...kept, namespace: made.namespace }, signal);
      expect(found.map(({ metadata }) => [metadata.name, metadata.finalizers ?? []])).toEqual(
        apps.map((app) => [app, []]),
      );
      expect([await workloads(made), await isThere(ownerRef)]).toEqual([maps, false]);
      expect(await foreignDeletes()).toEqual([]);
      await uninstall("eve", { keepDefinitions: false }, deps(), signal);
    });

    test("a Canary is removed without being reverted, and what serves production stays without an owner", async () => {
      const made = await installed();
      const metadata = { name: "web", namespace: made.namespace };
      const by = { manager: "test", force: true };
      const canary = await cluster.apply(
        {
          apiVersion: "flagger.app/v1beta1",
          kind: "Canary",
          metadata: { ...metadata, finalizers: ["finalizer.flagger.app"] },
          spec: {
            targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            service: { port: 80 },
            analysis: { interval: "1m", threshold: 5, stepWeight: 10 },
            revertOnDeletion: true,
          },
        },
        by,
        signal,
      );
      const { uid } = canary.object.metadata;
      const owner = { apiVersion: "flagger.app/v1beta1", kind: "Canary", name: "web", uid, controller: true };
      const primary: Manifest = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { ...metadata, name: "web-primary", ownerReferences: [owner] },
      };
      await cluster.apply(primary, by, signal);
      await uninstall("eve", { keepDefinitions: false }, deps(), signal);
      const left = await cluster.get(refOf(primary), signal);
      expect([left?.metadata.ownerReferences ?? [], await isClean()]).toEqual([[], true]);
    });

    test.for(strides)(
      "nothing is removed while a Canary that is being deleted gives the traffic back to its target",
      async () => {
        const made = await installed();
        const ref = {
          group: "flagger.app",
          version: "v1beta1",
          kind: "Canary",
          namespace: made.namespace,
          name: "web",
        };
        const spec = {
          targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          service: { port: 80 },
          analysis: { interval: "1m", threshold: 5, stepWeight: 10 },
          revertOnDeletion: true,
        };
        const metadata = { name: "web", namespace: made.namespace, finalizers: ["finalizer.flagger.app"] };
        const by = { manager: "test", force: true };
        await cluster.apply({ apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata, spec }, by, signal);
        await cluster.delete(ref, { propagation: "Background" }, signal);
        const waits = `Canary/${made.namespace}/web is being deleted, and its target does not serve again yet`;
        await expect(uninstall("eve", { keepDefinitions: false }, deps(), signal)).rejects.toThrow(waits);
        expect(await pauseOf(cluster, signal)).toBeUndefined();
        await cluster.patch(ref, { type: "merge", body: { metadata: { finalizers: [] } } }, by, signal);
        await uninstall("eve", { keepDefinitions: false }, deps(), signal);
        expect(await isClean()).toBe(true);
      },
    );

    test("an object with a foreign finalizer is awaited, with looks up to two seconds apart, and named; the cluster stays paused", async () => {
      const made = await installed();
      const ref = {
        group: "kustomize.toolkit.fluxcd.io",
        version: "v1",
        kind: "Kustomization",
        namespace: made.namespace,
        name: "one",
      };
      const held = (await cluster.get(ref, signal))?.metadata.finalizers ?? [];
      const patch = (finalizers: readonly string[]) =>
        cluster.patch(ref, { type: "merge", body: { metadata: { finalizers } } }, { manager: "test" }, signal);
      await patch([...held, "example.com/held"]);
      const waits: number[] = [];
      const recorded = {
        ...skipping,
        sleep: (ms: number) => {
          waits.push(ms);
          return skipping.sleep(ms, signal);
        },
      };
      const waiting = uninstall("eve", { keepDefinitions: false }, { ...deps(), clock: recorded }, signal);
      // The clock skips the wait, so that the garbage collector may hold others still.
      await expect(waiting).rejects.toThrow(
        new RegExp(`still there after 120 s: .*Kustomization/${made.namespace}/one \\(finalizers: example.com/held`),
      );
      // The first wait is until the pause counts.
      expect(waits.slice(1, 7)).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
      expect(await pauseOf(cluster, signal)).toMatchObject({ by: "eve" });
      await patch([]);
      await uninstall("eve", { keepDefinitions: false }, deps(), signal);
      expect([await workloads(made), await isClean()]).toEqual([maps, true]);
    });

    test("a resume meanwhile loses no workload: an object that has the finalizer again is not deleted", async () => {
      const made = await installed();
      const patch: Cluster["patch"] = async (ref, body, options, stop) => {
        const answer = await cluster.patch(ref, body, options, stop);
        if (ref.name === "one") {
          await resumeCluster(cluster, signal);
          const finalizers = ["finalizers.fluxcd.io"];
          await cluster.patch(ref, { type: "merge", body: { metadata: { finalizers } } }, { manager: "test" }, signal);
        }
        return answer;
      };
      await expect(
        uninstall("eve", { keepDefinitions: false }, { ...deps(), cluster: { ...cluster, patch } }, signal),
      ).rejects.toThrow("the cluster was resumed meanwhile: run sluice uninstall again");
      expect(await workloads(made)).toEqual(maps);
      await uninstall("eve", { keepDefinitions: false }, deps(), signal);
      expect([await workloads(made), await isClean()]).toEqual([maps, true]);
      expect(await foreignDeletes()).toEqual([]);
    });
  });
}
