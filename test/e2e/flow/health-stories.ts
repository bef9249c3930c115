import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import { configMap, service } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** An object whose health is what a test writes into its status: a Kustomization that no flow reconciles. */
const probe = (name: string) => ({
  apiVersion: kustomize,
  kind: "Kustomization",
  metadata: { name },
  spec: { interval: "1h", prune: true, sourceRef: { kind: "OCIRepository", name: "none" } },
});

async function say(world: World, name: string, type: "Ready" | "Reconciling" | "Stalled"): Promise<void> {
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

    test("a check that never passes times out, and a later success is reported (104, 105, 106, 114, 115)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const revision = await world.publish("v1", [configMap("a")]);
      const healthChecks = [{ ...check, namespace }];
      await world.kustomization("app", { healthChecks, timeout: "1s" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      // Less than 30 s have passed since the first check: a timeout of 1s counts as one of 30s.
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

    test("is reported before the end of the run, but only for a revision that changed something (105, 106)", async () => {
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

    test("is not reported again after a check that had to wait although nothing changed (106)", async () => {
      const world = await newWorld();
      await world.publish("v1", [probe("one")]);
      await world.kustomization("app", { wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await say(world, "one", "Ready");
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await passes(world)).toBe(1);
      await say(world, "one", "Reconciling");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await say(world, "one", "Ready");
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await passes(world)).toBe(1);
    });

    test("fails at once if one object has failed, and only that object is named (107)", async () => {
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

    test("with DisableFailFastBehavior a failed object does not end the wait for the others (107)", async () => {
      const world = await newWorld();
      world.gates = { ...world.gates, DisableFailFastBehavior: true };
      await world.publish("v1", [probe("failing"), probe("slow")]);
      await world.kustomization("app", { wait: true, timeout: "30s" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await say(world, "failing", "Stalled");
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      world.clock.advance(31_000);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const item = (object: string, status: string) => `Kustomization/${world.namespace}/${object} status: '${status}'`;
      expect(await world.ready("app")).toContain(
        `s: timeout waiting for: [${item("failing", "Failed")}, ${item("slow", "InProgress")}]`,
      );
      await say(world, "slow", "Ready");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain(
        `s: failed early due to stalled resources: [${item("failing", "Failed")}]`,
      );
    });

    test("fails with a reason: messages of the objects, failing containers and Warnings follow Flux's text (107)", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const manager = { manager: "test" };
      const labels = { app: "web" };
      const containers = [{ name: "app", image: "registry.example.test/c:1" }];
      // No node has this label: it never becomes available.
      const podSpec = { nodeSelector: { "example.test/none": "here" }, containers };
      const template = { metadata: { labels }, spec: podSpec };
      const metadata = { name: "web" };
      const spec = { replicas: 1, selector: { matchLabels: labels }, template };
      await world.publish("v1", [{ apiVersion: "apps/v1", kind: "Deployment", metadata, spec }]);
      await world.kustomization("app", { wait: true, timeout: "30s" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      const stuck = { name: "web-stuck", namespace, labels };
      await cluster.create({ apiVersion: "v1", kind: "Pod", metadata: stuck, spec: podSpec }, manager, signal);
      const at = "2026-01-01T00:00:00Z";
      const terminated = { exitCode: 3, reason: "Error", message: "no such table", startedAt: at, finishedAt: at };
      const unset = { ready: false, restartCount: 0, image: "c", imageID: "" };
      const status = { phase: "Failed", containerStatuses: [{ name: "app", ...unset, state: { terminated } }] };
      const ref = { group: "", version: "v1", kind: "Pod", namespace, name: "web-stuck" };
      const options = { ...manager, subresource: "status" };
      const { uid } = (await cluster.patch(ref, { type: "merge", body: { status } }, options, signal)).metadata;
      const involvedObject = { apiVersion: "v1", kind: "Pod", namespace, name: "web-stuck", uid };
      const event = { apiVersion: "v1", kind: "Event", metadata: { name: "stuck", namespace }, involvedObject };
      const lastTimestamp = "2199-01-01T00:00:00Z";
      const told = { type: "Warning", reason: "Failed", message: "no such image", lastTimestamp };
      await cluster.create({ ...event, ...told }, manager, signal);
      world.clock.advance(31_000);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const text = `timeout waiting for: [Deployment/${namespace}/web status: 'InProgress']`;
      const [flux, why, ...more] = (await world.ready("app")).split("\n");
      expect(flux?.endsWith(`s: ${text}`)).toBe(true);
      expect(why).toMatch(
        new RegExp(`^Deployment/${namespace}/web: \\w.*; container app of Pod/${namespace}/web-stuck`),
      );
      expect(why).toContain("web-stuck ended with exit code 3 (Error: no such table); Warning Failed: no such image");
      expect(more).toEqual([]);
      expect((await world.events("app")).at(-1)).toContain("Warning Failed: no such image");
      expect((await world.status("app"))["conditions"]).toContainEqual(
        expect.objectContaining({ type: "Healthy", status: "False", message: text }),
      );
      world.explainHealthFailures = false;
      await world.run("app");
      world.clock.advance(31_000);
      await world.run("app");
      expect((await world.ready("app")).endsWith(`s: ${text}`)).toBe(true);
    });

    test("a new revision ends the wait for the health of an older one (113)", async () => {
      const world = await newWorld();
      const old = await world.publish("v1", [probe("slow"), configMap("a")]);
      await world.kustomization("app", { wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      const revision = await world.publish("v2", [configMap("a", { k: "new" })]);
      const seen: string[] = [];
      world.fault = async (call) => {
        if (call === "build") seen.push(await world.ready("app"));
      };
      await world.run("app");
      const trigger = `triggered by OCIRepository/${world.namespace}/repo`;
      expect(seen).toEqual([`False HealthCheckCanceled: New reconciliation ${trigger}`]);
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect(await world.events("app")).toContain(
        `Normal HealthCheckCanceled: Health checks canceled due to new reconciliation ${trigger}`,
      );
      const { history } = await world.status("app");
      expect(JSON.stringify(history)).not.toContain(old);
    });

    test("a changed spec also ends the wait, and is named (113)", async () => {
      const world = await newWorld();
      await world.publish("v1", [probe("slow")]);
      await world.kustomization("app", { wait: true });
      await world.run("app");
      await world.kustomization("app", { wait: false });
      await world.run("app");
      expect(await world.ready("app")).toMatch(/^True/);
      expect((await world.events("app")).filter((event) => event.includes("HealthCheckCanceled"))).toEqual([
        `Normal HealthCheckCanceled: Health checks canceled due to new reconciliation triggered by Kustomization/${world.namespace}/app`,
      ]);
    });

    test("an edit of the spec restarts the timeout of the health check", async () => {
      const world = await newWorld();
      await world.publish("v1", [probe("slow")]);
      await world.kustomization("app", { wait: true, timeout: "60s" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      world.clock.advance(50_000);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      await world.kustomization("app", { wait: true, timeout: "59s" });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 1_000 });
      world.clock.advance(50_000);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting", dueInMs: 2_000 });
      world.clock.advance(10_000);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toMatch(/^False HealthCheckFailed: health check failed after 1m\d\.?\d*s: /);
    });

    test("with CancelHealthCheckOnNewRevision off the wait continues, and the newer revision follows at once (113)", async () => {
      const world = await newWorld();
      world.gates = { ...world.gates, CancelHealthCheckOnNewRevision: false };
      const old = await world.publish("v1", [probe("slow")]);
      await world.kustomization("app", { wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      const revision = await world.publish("v2", [probe("slow"), configMap("b")]);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      expect(await world.get("ConfigMap", "b")).toBeUndefined();
      await say(world, "slow", "Ready");
      expect(await world.run("app")).toMatchObject({ outcome: "applied", dueInMs: 0 });
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${old}`);
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect((await world.events("app")).join()).not.toContain("HealthCheckCanceled");
    });

    test("waits for a Job until it completes, and fails if it fails; a suspended Job is not awaited (108)", async () => {
      const world = await newWorld();
      const { cluster, namespace, signal } = world;
      const containers = [{ name: "c", image: "registry.example.test/c:1" }];
      const job = (name: string, more: JsonObject = {}): Manifest => ({
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: { name },
        // The cluster's own controller leaves it alone, so that its status is what the test writes.
        spec: {
          managedBy: "example.test/nobody",
          template: { spec: { restartPolicy: "Never", containers } },
          ...more,
        },
      });
      const end = async (name: string, ...types: readonly string[]): Promise<void> => {
        const time = "2026-01-01T00:00:00Z";
        const ended = { status: "True", reason: "Test", message: "", lastProbeTime: time, lastTransitionTime: time };
        const conditions = types.map((type) => ({ type, ...ended }));
        const completed = types.includes("Complete") ? { completionTime: time, succeeded: 1 } : { failed: 1 };
        const body = { status: { startTime: time, conditions, ...completed } };
        const ref = { group: "batch", version: "v1", kind: "Job", namespace, name };
        await cluster.patch(ref, { type: "merge", body }, { manager: "test", subresource: "status" }, signal);
      };
      const jobs = [job("done"), job("suspended", { suspend: true })];
      const revision = await world.publish("v1", jobs);
      await world.kustomization("app", { wait: true });
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await end("done", "SuccessCriteriaMet", "Complete");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);

      await world.publish("v2", [...jobs, job("broken")]);
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      await end("broken", "FailureTarget", "Failed");
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.ready("app")).toContain(
        `failed early due to stalled resources: [Job/${namespace}/broken status: 'Failed']`,
      );
    });

    test("a Job deleted by its ttlSecondsAfterFinished counts as succeeded, and does not run again (108)", async () => {
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
