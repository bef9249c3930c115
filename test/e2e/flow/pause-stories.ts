import { describe, expect, test } from "vitest";
import type { VersionedRef } from "../../../lib/core/object-ref.ts";
import type { Cluster, WriteOptions } from "../../../lib/core/ports/cluster.ts";
import { GateClosed } from "../../../lib/core/ports/write-gate.ts";
import { type OwnInstallation, ownerCheck } from "../../../lib/gate/cluster-owner.ts";
import { gatedCluster } from "../../../lib/gate/gated-cluster.ts";
import { pauseCluster, resumeCluster } from "../../../lib/gate/pause.ts";
import { type GateCheck, lookCountsMs, writeGate } from "../../../lib/gate/write-gate.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { configMap } from "./sample-manifests.ts";
import { type World, world } from "./world.ts";

const self: OwnInstallation = { id: "story", version: "1", takeOverCommand: "sluice take-over" };
const count = 60;
const pausedAfter = 20;
const writeTakesMs = 400;

/** The owner object of a story lies in the story's own namespace, since a cluster has only one. */
function withOwnObject(cluster: Cluster, namespace: string): Cluster {
  const own = (ref: VersionedRef): VersionedRef => (ref.name === "sluice-owner" ? { ...ref, namespace } : ref);
  return {
    ...cluster,
    get: (ref, signal) => cluster.get(own(ref), signal),
    create: (manifest, options, signal) =>
      cluster.create({ ...manifest, metadata: { ...manifest.metadata, namespace } }, options, signal),
    patch: (ref, patch, options, signal) => cluster.patch(own(ref), patch, options, signal),
  };
}

/** What a pause of the cluster does to a Kustomization. */
export function pauseStories(name: string, newWorld: () => Promise<World>): void {
  describe(`a paused cluster on ${name}`, () => {
    test("a pause during an apply of many objects stops the writes within ten seconds, and resume converges", async () => {
      const outer = await newWorld();
      const { signal } = outer;
      const clock = steppedClock();
      const owner = withOwnObject(outer.cluster, outer.namespace);
      const sent: { readonly name: string; readonly at: number }[] = [];
      let lookedAt = -Infinity;
      let pausing: Promise<void> | undefined;
      let pausedAt = Infinity;
      let standing = 0;
      /** No time passes meanwhile, however long it takes. */
      const standingStill = async <Result>(act: () => Promise<Result>): Promise<Result> => {
        standing += 1;
        return act().finally(() => void (standing -= 1));
      };
      const isMap = (what: string): boolean => /^map-\d+$/.test(what);
      type Guard = Pick<WriteOptions, "dryRun" | "beforeSend">;
      const pause = async (): Promise<void> => {
        await standingStill(() => pauseCluster("eve@laptop", { cluster: owner, clock }, signal));
        pausedAt = clock.now();
      };
      /** Each write takes its time. The pause comes shortly after a look at the gate, so that more writes follow it. */
      const write = async <Options extends Guard, Result>(
        what: string,
        options: Options,
        send: (options: Options) => Promise<Result>,
      ): Promise<Result> => {
        if (options.dryRun === true) return send(options);
        await pausing;
        const beforeSend = (): void => {
          options.beforeSend?.();
          sent.push({ name: what, at: clock.now() });
        };
        const result = await send({ ...options, beforeSend });
        if (standing === 0) clock.pass(writeTakesMs);
        const isDue = sent.filter((each) => isMap(each.name)).length >= pausedAfter;
        if (isDue && clock.now() - lookedAt <= 2 * writeTakesMs) await (pausing ??= pause());
        return result;
      };
      const recorded: Cluster = {
        ...outer.cluster,
        apply: (manifest, options, stop) =>
          write(manifest.metadata.name, options, (given) => outer.cluster.apply(manifest, given, stop)),
        patch: (ref, patch, options, stop) =>
          write(ref.name, options, (given) => outer.cluster.patch(ref, patch, given, stop)),
        create: (manifest, options, stop) =>
          write(manifest.kind, options, (given) => outer.cluster.create(manifest, given, stop)),
        delete: (ref, options, stop) => write(ref.name, options, (given) => outer.cluster.delete(ref, given, stop)),
      };
      const log = recordedLog();
      const check = ownerCheck(self, { cluster: owner, clock });
      const look: GateCheck = async (stop) => {
        const refusal = await standingStill(() => check(stop));
        lookedAt = clock.now();
        return refusal;
      };
      const gate = writeGate([look], { clock, log });
      const gated = await world(gatedCluster(recorded, gate), `${outer.namespace}-paused`);
      const names = Array.from({ length: count }, (_, index) => `map-${index}`);
      const applied = async (): Promise<number> => {
        const query = { group: "", version: "v1", kind: "ConfigMap", namespace: gated.namespace };
        return (await outer.cluster.list(query, signal)).filter(({ metadata }) => isMap(metadata.name)).length;
      };
      const revision = await gated.publish(
        "v1",
        names.map((each) => configMap(each)),
      );
      await gated.kustomization("app");

      await expect(gated.run("app")).rejects.toThrow(GateClosed);
      const late = sent.filter(({ at }) => at > pausedAt).map(({ at }) => at - pausedAt);
      expect(late.length).toBeGreaterThan(0);
      expect(Math.max(...late)).toBeLessThan(lookCountsMs);
      const done = await applied();
      expect(done).toBeGreaterThanOrEqual(pausedAfter);
      expect(done).toBeLessThan(count);
      const [reason] = log.lines.filter(({ message }) => message === "nothing is written to the cluster");
      expect(reason).toMatchObject({ reason: expect.stringContaining("this cluster is paused by eve@laptop since") });

      // A run that begins meanwhile writes nothing at all: no status, no event.
      const before = sent.length;
      clock.pass(60_000);
      await expect(gated.run("app")).rejects.toThrow("run sluice resume to go on");
      expect([sent.length, await applied()]).toEqual([before, done]);

      expect(await resumeCluster(owner, signal)).toMatchObject({ by: "eve@laptop" });
      clock.pass(lookCountsMs);
      await gated.run("app");
      expect(await applied()).toBe(count);
      expect(await gated.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect((await gated.inventory("app")).length).toBe(count);
    });
  });
}
