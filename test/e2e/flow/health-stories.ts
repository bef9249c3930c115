import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { configMap, type World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** Of a kind whose health is nothing but what a test writes into its status: it is a Kustomization that nobody runs. */
const probe = (name: string) => ({
  apiVersion: kustomize,
  kind: "Kustomization",
  metadata: { name },
  spec: { interval: "1h", prune: true, sourceRef: { kind: "OCIRepository", name: "none" } },
});

async function say(world: World, name: string, type: "Ready" | "Stalled"): Promise<void> {
  const { namespace, signal } = world;
  const ref = { group: kustomizeGroup, version: "v1", kind: "Kustomization", namespace, name };
  const condition = { type, status: "True", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
  const { generation = 0 } = (await world.cluster.get(ref, signal))?.metadata ?? {};
  const body: JsonObject = { status: { observedGeneration: generation, conditions: [condition] } };
  await world.cluster.patch(ref, { type: "merge", body }, { manager: "test", subresource: "status" }, signal);
}

async function passes(world: World): Promise<number> {
  return (await world.events("app")).filter((event) => event.includes("Health check passed")).length;
}

/** When a Kustomization counts as healthy. */
export function healthStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the health of a Kustomization on ${name}`, () => {
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
