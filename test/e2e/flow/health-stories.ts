import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { configMap, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** Of a kind whose health is nothing but what a test writes into its status: it is a Kustomization that nobody runs. */
const probe = (name: string) => ({
  apiVersion: kustomize,
  kind: "Kustomization",
  metadata: { name },
  spec: { interval: "1h", prune: true, sourceRef: { kind: "OCIRepository", name: "none" } },
});

async function say(world: World, name: string, type: "Ready" | "Stalled"): Promise<void> {
  const condition = { type, status: "True", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const { generation = 0 } = (await world.get("Kustomization", name, kustomize))?.metadata ?? {};
  const body: JsonObject = { status: { observedGeneration: generation, conditions: [condition] } };
  await world.patch(name, body, { manager: "test", subresource: "status" });
}

async function passes(world: World): Promise<number> {
  return (await world.events("app")).filter((event) => event.includes("Health check passed")).length;
}

/** When a Kustomization counts as healthy. */
export function healthStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the health of a Kustomization on ${name}`, () => {
    const check = { apiVersion: "v1", kind: "ConfigMap", name: "does-not-exists" };

    test("a check that never passes times out, and a later pass is told (104, 105, 106, 114, 115)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const revision = await world.publish("v1", [configMap("a")]);
      const healthChecks = [{ ...check, namespace }];
      await world.kustomization("app", { healthChecks, timeout: "1s" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      // Less than 30 s have gone by since it was first looked at: a timeout of 1s counts as one of 30s.
      world.clock.advance(20_000);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      world.clock.advance(10_000);
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
      const text = `timeout waiting for: [ConfigMap/${namespace}/does-not-exists status: 'NotFound']`;
      const ready = await world.ready("app");
      expect(ready).toMatch(/^False HealthCheckFailed: health check failed after 3\d\.?\d*s: /);
      expect(ready.slice(ready.indexOf("s: ") + 3)).toBe(text);
      const failed = await world.status("app");
      const reason = "HealthCheckFailed";
      const retried = `Running health checks for revision ${revision} with a timeout of 30s`;
      expect(failed["conditions"]).toEqual([
        expect.objectContaining({ type: "Reconciling", reason: "ProgressingWithRetry", message: retried }),
        expect.objectContaining({ type: "Ready", status: "False", reason }),
        expect.objectContaining({ type: "Healthy", status: "False", reason, message: text }),
      ]);
      expect((await world.events("app")).at(-1)).toBe(ready.replace("False", "Warning"));
      expect(failed["observedGeneration"]).toBe(-1);
      expect(failed["inventory"]).toEqual({ entries: [{ id: `${namespace}_a__ConfigMap`, v: "v1" }] });

      const missing = { ...configMap(check.name), metadata: { name: check.name, namespace } };
      await world.cluster.create(missing, { manager: "x" }, world.signal);
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      const passed = (await world.events("app")).filter((event) => event.includes("Health check passed"));
      expect(passed).toHaveLength(1);
      await world.run("app");
      expect((await world.events("app")).filter((event) => event.includes("Health check passed"))).toHaveLength(1);
      const history = (await world.status("app"))["history"];
      expect(history).toMatchObject([
        { lastReconciledStatus: "ReconciliationSucceeded", totalReconciliations: 2 },
        { lastReconciledStatus: "HealthCheckFailed", totalReconciliations: 1 },
      ]);
      await world.kustomization("app");
      await world.run("app");
      const conditions = (await world.status("app"))["conditions"];
      expect(JSON.stringify(conditions)).not.toContain('"Healthy"');
    });

    test("wait: true checks everything applied (103)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a"), service(80), probe("one"), probe("two")]);
      await world.kustomization("app", { wait: true });
      for (const name of ["one", "two"]) {
        expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
        expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
        await say(world, name, "Ready");
      }
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      const conditions = (await world.status("app"))["conditions"];
      expect(conditions).toEqual([
        expect.objectContaining({ type: "Ready", status: "True" }),
        expect.objectContaining({
          type: "Healthy",
          status: "True",
          reason: "Succeeded",
          message: expect.stringMatching(/^Health check passed in \d/),
        }),
      ]);
    });

    test("is told before the end of the run, of a revision that changed something, and of no other (105, 106)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { wait: true });
      await world.run("app");
      expect((await world.events("app")).slice(-2)).toEqual([
        expect.stringMatching(/^Normal Progressing: Health check passed in \S+$/),
        expect.stringMatching(/^Normal ReconciliationSucceeded: Reconciliation finished in \S+, next run in 10m0s$/),
      ]);
      await world.publish("v2", [configMap("a")]);
      await world.run("app");
      expect(await passes(world)).toBe(1);
      await world.publish("v3", [configMap("a", { k: "new" })]);
      await world.run("app");
      expect(await passes(world)).toBe(2);
    });

    test("is lost at once where one object has failed, which alone is named (107)", async () => {
      const world = await newWorld();
      await world.publish("v1", [probe("failing"), probe("slow")]);
      await world.kustomization("app", { wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await say(world, "failing", "Stalled");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const text = `failed early due to stalled resources: [Kustomization/${world.namespace}/failing status: 'Failed']`;
      const ready = await world.ready("app");
      expect(ready).toMatch(/^False HealthCheckFailed: health check failed after \S+: /);
      expect(ready).toContain(text);
      expect((await world.status("app"))["conditions"]).toContainEqual(
        expect.objectContaining({ type: "Healthy", status: "False", reason: "HealthCheckFailed", message: text }),
      );
    });

    test("a Job that is gone because its time is over has ended well, and is not run again meanwhile (108)", async () => {
      const world = await newWorld();
      const { namespace, signal } = world;
      const containers = [{ name: "c", image: "registry.example.test/c:1" }];
      const job = {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name: "once" },
        spec: { ttlSecondsAfterFinished: 0, template: { spec: { restartPolicy: "Never", containers } } },
      };
      const revision = await world.publish("v1", [job, probe("slow")]);
      await world.kustomization("app", { wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      const ref = { group: "batch", version: "v1", kind: "Job", namespace, name: "once" };
      await world.cluster.delete(ref, { propagation: "Background" }, signal);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect(await world.cluster.get(ref, signal)).toBeUndefined();
      await say(world, "slow", "Ready");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect(await world.cluster.get(ref, signal)).toBeUndefined();
    });
  });
}
