import { describe, expect, test } from "vitest";
import { z } from "zod";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { configMap, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;
const Conditions = z.array(z.looseObject({ type: z.string(), status: z.string() }));
const History = z.array(z.looseObject({}));
const requested = (value: string) => ({ "reconcile.fluxcd.io/requestedAt": value });

/** What becomes of a Kustomization from its first run to its deletion. */
export function lifeCycleStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the life of a Kustomization on ${name}`, () => {
    test("a resumed object restarts its back-off", async () => {
      const world = await newWorld();
      const missing = { interval: "0s", sourceRef: { kind: "OCIRepository", name: "none" } };
      await world.kustomization("app", missing);
      expect(await world.run("app")).toMatchObject({ dueInMs: 750 });
      expect(await world.run("app")).toMatchObject({ dueInMs: 1_500 });
      await world.kustomization("app", { ...missing, suspend: true });
      expect(await world.run("app")).toEqual({ outcome: "suspended", dueInMs: undefined });
      await world.kustomization("app", { ...missing, suspend: false });
      expect(await world.run("app")).toMatchObject({ dueInMs: 750 });
    });

    test("the first run adds the finalizer, applies everything and reports that (6, 7, 72, 94)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a"), service(80)]);
      await world.kustomization("app");
      await world.run("app");

      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      const live = await world.get("Kustomization", "app", kustomize);
      expect(live?.metadata.finalizers).toEqual(["finalizers.fluxcd.io"]);
      const status = await world.status("app");
      expect(status).toMatchObject({
        observedGeneration: live?.metadata.generation,
        lastAppliedRevision: revision,
        lastAttemptedRevision: revision,
        inventory: {
          entries: [
            { id: `${world.namespace}_a__ConfigMap`, v: "v1" },
            { id: `${world.namespace}_s__Service`, v: "v1" },
          ],
        },
        history: [{ lastReconciledStatus: "ReconciliationSucceeded", totalReconciliations: 1, metadata: { revision } }],
      });
      expect(status["conditions"]).toHaveLength(1);
      const applied = await world.get("ConfigMap", "a");
      expect(applied?.metadata.labels).toEqual({
        [`${kustomizeGroup}/name`]: "app",
        [`${kustomizeGroup}/namespace`]: world.namespace,
      });
      expect(applied?.metadata.managedFields).toMatchObject([{ manager: "kustomize-controller", operation: "Apply" }]);
      expect(await world.events("app")).toEqual([
        `Normal Progressing: ConfigMap/${world.namespace}/a created\nService/${world.namespace}/s created`,
        expect.stringMatching(/^Normal ReconciliationSucceeded: Reconciliation finished in \S+, next run in 10m0s$/),
      ]);
    });

    test("a second run writes no object: one status write, one event, and Ready stays True (73)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), service(80)]);
      await world.kustomization("app");
      await world.run("app");
      const before = [await world.get("ConfigMap", "a"), await world.get("Service", "s")];
      const calls: string[] = [];
      world.fault = (call) => void calls.push(call);
      expect(await world.run("app")).toMatchObject({ isQuiet: true });
      world.fault = () => {};

      const writes = calls.filter((call) => /^cluster\.(apply|create|patch|delete)$/.test(call));
      expect(writes).toEqual(["cluster.patch", "cluster.create"]);
      expect(calls.filter((call) => call === "cluster.listMetadata")).toHaveLength(2);
      expect([await world.get("ConfigMap", "a"), await world.get("Service", "s")]).toEqual(before);
      expect(await world.events("app")).toHaveLength(3);
      expect((await world.status("app"))["history"]).toMatchObject([{ totalReconciliations: 2 }]);
      // The history in the state has what happened: the second run is not an entry of it.
      expect(world.remembered).toMatchObject([{ outcome: "ReconciliationSucceeded", created: 2 }]);
    });

    test("suspended: nothing is applied, the request is handled, an object that is Ready is observed (9, 10, 11)", async () => {
      const world = await newWorld();
      const first = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { wait: true });
      await world.run("app");
      const { conditions } = await world.status("app");
      expect(conditions).toHaveLength(2);
      const told = await world.events("app");
      await world.publish("v2", [configMap("a", { k: "new" })]);
      await world.kustomization("app", { wait: true, suspend: true });
      await world.patch("app", { metadata: { annotations: requested("now") } }, { manager: "flux" });
      world.clock.advance(5_000);
      expect(await world.run("app")).toMatchObject({ outcome: "suspended", dueInMs: undefined });

      expect((await world.get("ConfigMap", "a"))?.["data"]).toEqual({ k: "v" });
      const live = await world.get("Kustomization", "app", kustomize);
      expect(await world.status("app")).toMatchObject({
        conditions,
        lastHandledReconcileAt: "now",
        lastAttemptedRevision: first,
        observedGeneration: live?.metadata.generation,
      });
      expect(await world.events("app")).toEqual(told);
    });

    test("suspended after a failure: it stays failed, with the new generation, which does not count as observed (9, 11)", async () => {
      const world = await newWorld();
      await world.publish("v1", [service(800_000)]);
      await world.kustomization("app");
      await world.run("app");
      const failed = Conditions.parse((await world.status("app"))["conditions"]);
      expect(failed.map(({ type, status }) => `${type} ${status}`)).toEqual(["Reconciling True", "Ready False"]);
      await world.publish("v2", [configMap("a")]);
      await world.kustomization("app", { suspend: true });
      await world.patch("app", { metadata: { annotations: requested("now") } }, { manager: "flux" });
      world.clock.advance(5_000);
      await world.run("app");

      const { generation } = (await world.get("Kustomization", "app", kustomize))?.metadata ?? {};
      expect(await world.status("app")).toMatchObject({ lastHandledReconcileAt: "now", observedGeneration: -1 });
      // As in Flux, whose end of a run sets Reconciling anew (finalizeStatus).
      expect(Conditions.parse((await world.status("app"))["conditions"])).toEqual(
        failed.map((one) => (one.type === "Reconciling" ? { ...one, observedGeneration: generation } : one)),
      );
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test("the first run that applies a new revision measures how long that took since its push", async () => {
      const world = await newWorld();
      const first = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      const second = await world.publish("v2", [configMap("a", { k: "2" })]);
      world.clock.advance(5_000);
      await world.run("app");
      await world.run("app");
      const pushes = world.measured.filter(([, measures]) => "PushToApplied" in measures);
      expect(first).not.toBe(second);
      expect(pushes).toEqual([
        [`Kustomization/${world.namespace}/app`, { PushToApplied: expect.any(Number) }, { revision: second }],
      ]);
      expect(pushes[0]?.[1].PushToApplied).toBeGreaterThanOrEqual(5_000);
    });

    test("a new revision with the same build result is counted in the same history entry, under its name (116)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")], { metadata: { "org.opencontainers.image.revision": "one" } });
      await world.kustomization("app");
      await world.run("app");
      const [before] = History.parse((await world.status("app"))["history"]);
      const second = await world.publish("v2", [configMap("a")], {
        metadata: { "org.opencontainers.image.revision": "two" },
      });
      world.clock.advance(5_000);
      await world.run("app");
      const after = History.parse((await world.status("app"))["history"]);
      expect(after).toEqual([
        {
          ...before,
          lastReconciled: expect.any(String),
          lastReconciledDuration: expect.any(String),
          metadata: { revision: second, originRevision: "two" },
          totalReconciliations: 2,
        },
      ]);
      expect(after[0]?.["lastReconciled"]).not.toBe(before?.["lastReconciled"]);
    });

    test.each([
      { deletionPolicy: "MirrorPrune", prune: true, stays: false },
      { deletionPolicy: "MirrorPrune", prune: false, stays: true },
      { deletionPolicy: "Delete", prune: false, stays: false },
      { deletionPolicy: "WaitForTermination", prune: false, stays: false },
      { deletionPolicy: "Orphan", prune: true, stays: true },
    ])("deleted with policy $deletionPolicy and prune $prune: its objects stay $stays (118)", async (row) => {
      const world = await newWorld();
      const { stays, ...spec } = row;
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", spec);
      await world.run("app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });

      expect((await world.get("ConfigMap", "a")) !== undefined).toBe(stays);
      expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
      expect(await world.run("app")).toMatchObject({ outcome: "absent" });
    });

    test("deleted while suspended: the objects stay (119)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.kustomization("app", { suspend: true });
      await world.remove("app");
      await world.run("app");
      expect(await world.get("ConfigMap", "a")).toBeDefined();
      expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
    });

    test("deleted while deletes are refused: it retries less and less often, and ends once they are accepted", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.remove("app");
      world.fault = (call) => {
        if (call !== "cluster.delete") return;
        throw new ApiError({ code: 403, reason: "Forbidden", message: "admission webhook denied the request" });
      };
      for (const dueInMs of [750, 1_500, 3_000]) {
        expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs });
      }
      expect(await world.ready("app")).toMatch(/^Unknown Progressing: pruning for deleted resource failed: /);
      world.fault = () => {};
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect((await world.events("app")).at(-1)).toMatch(
        /^Normal ReconciliationSucceeded: Reconciliation finished in /,
      );
    });

    test("WaitForTermination gives up after the timeout and reports that (120)", async () => {
      const world = await newWorld();
      const finalizers = ["example.com/hold"];
      await world.publish("v1", [configMap("a", { k: "v" }, { finalizers }), configMap("free")]);
      await world.kustomization("app", { deletionPolicy: "WaitForTermination", timeout: "30s" });
      await world.run("app");
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      const hanging = `Unknown Progressing: waiting for deleted objects to be gone: ConfigMap/${world.namespace}/a (held by example.com/hold)`;
      expect(await world.ready("app")).toBe(hanging);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      expect(await world.ready("app")).toBe(hanging);
      const told = (await world.events("app")).filter((event) => event.includes("/free deleted"));
      expect(told).toHaveLength(1);
      world.clock.advance(31_000);
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });

      expect(await world.events("app")).toContainEqual(
        "Warning ReconciliationSucceeded: failed to wait for resources termination",
      );
      expect((await world.events("app")).at(-1)).toMatch(
        /^Normal ReconciliationSucceeded: Reconciliation finished in /,
      );
      expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
    });
  });
}
