import { describe, expect, test } from "vitest";
import { kustomizeGroup } from "../../../lib/api/names.ts";
import { Failure } from "../../../lib/core/failure.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

const kustomize = `${kustomizeGroup}/v1`;

/** What single fields of a Kustomization ask for, and what its status says meanwhile. */
export function specStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the spec of a Kustomization on ${name}`, () => {
    test("its finalizer is written before anything else (6)", async () => {
      const world = await newWorld();
      await world.kustomization("app");
      world.fault = (call) => {
        if (call === "subscriptions.subscribe") throw new Error("killed");
      };
      await expect(world.run("app")).rejects.toThrow("killed");
      const live = await world.get("Kustomization", "app", kustomize);
      expect(live).toMatchObject({ metadata: { finalizers: ["finalizers.fluxcd.io"] } });
      expect(live?.["status"]).toEqual({ observedGeneration: -1 });
    });

    test("while it is being applied, Ready is Unknown and Reconciling shows the phase (8)", async () => {
      const world = await newWorld();
      const revision = await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", {
        healthChecks: [{ apiVersion: "v1", kind: "ConfigMap", name: "b", namespace: world.namespace }],
      });
      let applies = 0;
      world.fault = (call) => {
        // The first is the dry run of the plan.
        if (call === "cluster.apply" && ++applies === 2) throw new Error("killed");
      };
      await expect(world.run("app")).rejects.toThrow("killed");
      const ready = { type: "Ready", status: "Unknown", reason: "Progressing", message: "Reconciliation in progress" };
      const phase = (doing: string) => ({
        type: "Reconciling",
        status: "True",
        reason: "Progressing",
        message: `${doing} for revision ${revision} with a timeout of 9m30s`,
      });
      expect((await world.status("app"))["conditions"]).toMatchObject([phase("Detecting drift"), ready]);

      world.fault = () => {};
      expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
      const { message } = phase("Running health checks");
      const healthy = { type: "Healthy", status: "Unknown", reason: "Progressing", message };
      expect((await world.status("app"))["conditions"]).toMatchObject([phase("Running health checks"), ready, healthy]);
    });

    test("an interval shorter than a second runs once per second, and one Warning per spec says so", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { interval: "1ms", retryInterval: "0.5s" });
      const told = async () => (await world.events("app")).filter((event) => event.startsWith("Warning"));
      const warning =
        "Warning IntervalTooShort: spec.interval 1ms and spec.retryInterval 0.5s is shorter than a second";
      for (const { dueInMs = 0 } of [await world.run("app"), await world.run("app")]) {
        expect(dueInMs).toBeGreaterThanOrEqual(1_000);
      }
      expect(await told()).toEqual([expect.stringContaining(warning)]);
      await world.kustomization("app", { interval: "2ms", suspend: true });
      await world.run("app");
      expect(await told()).toHaveLength(1);
      await world.kustomization("app", { interval: "2ms", sourceRef: { kind: "OCIRepository", name: "none" } });
      await world.run("app");
      await world.run("app");
      expect(await told()).toEqual([expect.stringContaining(warning), expect.stringContaining("spec.interval 2ms is")]);
    });

    test("an interval of 0s has no periodic run, and failures are retried with back-off", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { interval: "0s" });
      expect(await world.run("app")).toMatchObject({ outcome: "applied", dueInMs: undefined });
      await world.kustomization("app", { interval: "0s", sourceRef: { kind: "OCIRepository", name: "none" } });
      expect((await world.run("app")).dueInMs).toBe(750);
      expect((await world.run("app")).dueInMs).toBe(1_500);
      await world.kustomization("app", { interval: "0s" });
      await world.run("app");
      world.fault = (call) => {
        if (call === "build") throw new Failure("BuildFailed", "kustomize build failed: no");
      };
      const waits = [await world.run("app"), await world.run("app"), await world.run("app")];
      expect(waits.map(({ outcome, dueInMs }) => [outcome, dueInMs])).toEqual([
        ["failed", 750],
        ["failed", 1_500],
        ["failed", 3_000],
      ]);
    });

    test("the delays between retries are those of min-retry-delay and max-retry-delay", async () => {
      const world = await newWorld();
      world.timing = { ...defaultTiming, retryDelay: { minMs: 4_000, maxMs: 10_000 } };
      await world.kustomization("app", { interval: "0s", sourceRef: { kind: "OCIRepository", name: "none" } });
      const waits = [await world.run("app"), await world.run("app"), await world.run("app")];
      expect(waits.map(({ dueInMs }) => dueInMs)).toEqual([4_000, 8_000, 10_000]);
    });

    test("the jitter of an interval is that of interval-jitter-percentage", async () => {
      const world = await newWorld();
      world.timing = { ...defaultTiming, jitterPercentage: 0 };
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      expect(await world.run("app")).toMatchObject({ outcome: "applied", dueInMs: 600_000 });
    });

    test("a timeout of 190 years is accepted, and one that overflows Go's duration is refused with its field", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { timeout: "99999999m", interval: "2562047h" });
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      await world.kustomization("app", { timeout: "2562048h" });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      const message = expect.stringContaining("spec.timeout: must be a duration of at most 2562047h47m16s; ");
      const { conditions } = await world.status("app");
      expect(conditions).toContainEqual(expect.objectContaining({ type: "Ready", reason: "InvalidSpec", message }));
    });

    test("a field that cannot be parsed does not block a deletion that does not depend on it", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app");
      await world.run("app");
      await world.kustomization("app", { timeout: "99999999999h" });
      expect(await world.run("app")).toMatchObject({ outcome: "stalled" });
      await world.remove("app");
      expect(await world.run("app")).toMatchObject({ outcome: "deleted" });
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
      expect(await world.get("Kustomization", "app", kustomize)).toBeUndefined();
    });

    test("a request counts as handled when its run ends, whatever the outcome (11)", async () => {
      const world = await newWorld();
      await world.kustomization("app");
      const request = async (at: string) => {
        const body = { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": at } } };
        await world.patch("app", body, { manager: "flux" });
        await world.run("app");
        const { lastHandledReconcileAt } = await world.status("app");
        return `${JSON.stringify(lastHandledReconcileAt)}: ${await world.ready("app")}`;
      };
      expect(await request("one")).toContain('"one": False ArtifactFailed: ');
      await world.publish("v1", [{ ...configMap("a"), kind: "Nothing" }]);
      expect(await request("two")).toContain('"two": False ReconciliationFailed: ');
      await world.publish("v2", [configMap("a")]);
      expect(await request("three")).toContain('"three": True ReconciliationSucceeded: ');
    });

    test("commonMetadata is on every object, and is removed when the spec drops it (46)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "v" }, { labels: { tenant: "own" } }), configMap("b")]);
      await world.kustomization("app", { commonMetadata: { labels: { tenant: "t" }, annotations: { tenant: "t" } } });
      await world.run("app");
      for (const one of ["a", "b"]) {
        expect((await world.get("ConfigMap", one))?.metadata).toMatchObject({
          labels: { tenant: "t" },
          annotations: { tenant: "t" },
        });
      }
      await world.kustomization("app");
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.labels).toMatchObject({ tenant: "own" });
      const { labels, annotations } = (await world.get("ConfigMap", "b"))?.metadata ?? {};
      expect({ labels, annotations }).toEqual({
        labels: { [`${kustomizeGroup}/name`]: "app", [`${kustomizeGroup}/namespace`]: world.namespace },
        annotations: undefined,
      });
    });

    test("force recreates an object that a finalizer blocks as soon as it is deleted (82)", async () => {
      const world = await newWorld();
      const secret = (value: string) => ({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "s", finalizers: ["example.com/hold"] },
        immutable: true,
        data: { k: Buffer.from(value).toString("base64") },
      });
      await world.publish("v1", [secret("one")]);
      await world.kustomization("app", { force: true });
      await world.run("app");
      const uid = (await world.get("Secret", "s"))?.metadata.uid;
      const revision = await world.publish("v2", [secret("two")]);
      for (let runs = 0; runs < 2; runs++) {
        expect(await world.run("app")).toMatchObject({ outcome: "waiting" });
        expect(await world.ready("app")).toBe("Unknown Progressing: Reconciliation in progress");
        expect(await world.get("Secret", "s")).toMatchObject({ metadata: { uid }, data: secret("one").data });
      }
      await world.cluster.patch(
        { group: "", version: "v1", kind: "Secret", namespace: world.namespace, name: "s" },
        { type: "merge", body: { metadata: { finalizers: null } } },
        { manager: "another-client" },
        world.signal,
      );
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect(await world.get("Secret", "s")).toMatchObject({ data: secret("two").data });
      expect((await world.get("Secret", "s"))?.metadata.uid).not.toBe(uid);
    });

    test("with wait it does not wait for itself (112)", async () => {
      const world = await newWorld();
      const { namespace } = world;
      const spec = {
        wait: true,
        interval: "10m",
        prune: true,
        targetNamespace: namespace,
        sourceRef: { kind: "OCIRepository", name: "repo" },
      };
      const revision = await world.publish("v1", [
        { apiVersion: kustomize, kind: "Kustomization", metadata: { name: "app" }, spec },
        configMap("a"),
      ]);
      await world.kustomization("app", spec);
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect((await world.inventory("app")).map(({ id }) => id)).toEqual([
        `${namespace}_a__ConfigMap`,
        `${namespace}_app_${kustomizeGroup}_Kustomization`,
      ]);
    });
  });
}
