import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { HookEvent, ObservedRelease } from "../../../lib/core/ports/helm-engine.ts";
import { type HooksOutcome, runHooks } from "../../../lib/flows/helm-release/actions/hooks.ts";
import type { ActionWait } from "../../../lib/flows/helm-release/attempt/action.ts";
import type { AttemptMark } from "../../../lib/helm/release-store.ts";
import { fileCluster } from "../../doubles/file-cluster.ts";
import { type ActionScene, actionScene, hookOf } from "./action-scene.ts";

const embedded = fileCluster({ controllers: false });
let scenes = 0;

const newScene = () => actionScene(embedded.cluster, `hooks-${scenes++}`);
const mark: AttemptMark = { owner: "uid", action: "install", generation: 1, token: "t" };
const configMap = (name: string): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { a: "b" },
});
const job = (name: string, spec = {}): Manifest => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i" }] } }, ...spec },
});
const complete = { conditions: [{ type: "Complete", status: "True" }] };
const failed = { conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }] };

/** A revision with these hooks under the mark of an install. */
async function pending(scene: ActionScene, hooks: ObservedRelease["hooks"]): Promise<void> {
  await scene.put({ status: "pending-install", hooks });
  const stored = scene.releases.latest();
  await scene.releases.update(stored, stored, mark, new AbortController().signal);
}

/** One run. */
async function run(scene: ActionScene, event: HookEvent, wait?: ActionWait): Promise<HooksOutcome> {
  const ctx = await scene.context();
  const runner = { ctx, store: scene.store, ociDigest: "", releaseNamespace: scene.namespace, healthRules: undefined };
  return runHooks({ ...runner, timeoutMs: 60_000 }, event, scene.releases.latest(), wait);
}

const waitOf = (outcome: HooksOutcome) => (outcome.kind === "waiting" ? outcome.wait : undefined);
const phases = (scene: ActionScene) =>
  scene.releases.latest().observed.hooks.map(({ name, lastRun }) => `${name} ${lastRun.phase}`);

describe("hooks of a release", () => {
  test("run by weight, then by name, and the record has their times, with the delete policy that Helm fills in", async () => {
    const scene = await newScene();
    const events = ["pre-install"] as const;
    await pending(scene, [
      hookOf(configMap("b"), { events }),
      hookOf(configMap("a"), { events }),
      hookOf(configMap("other"), { events: ["post-install"] }),
      hookOf(configMap("first"), { events, weight: -5 }),
    ]);

    expect((await run(scene, "pre-install")).kind).toBe("done");

    expect(scene.writes).toEqual(["created ConfigMap/first", "created ConfigMap/a", "created ConfigMap/b"]);
    const [b, , other] = scene.releases.latest().observed.hooks;
    expect(b).toMatchObject({ deletePolicies: ["before-hook-creation"], lastRun: { phase: "Succeeded" } });
    expect(Date.parse(b?.lastRun.completedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(b?.lastRun.startedAt ?? ""));
    expect(other).toMatchObject({ deletePolicies: [], lastRun: { phase: "" } });
  });

  test("have the manager helm-controller and no Helm metadata", async () => {
    const scene = await newScene();
    await pending(scene, [hookOf(configMap("a"), { events: ["pre-install"] })]);
    await run(scene, "pre-install");

    const live = await scene.get("ConfigMap", "a");
    expect(live?.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`)).toEqual([
      "helm-controller Apply",
    ]);
    expect(live?.metadata.labels).toBeUndefined();
    expect(live?.metadata.annotations).toBeUndefined();
  });

  test("wait for a Job by wake-ups until it is complete", async () => {
    const scene = await newScene();
    await pending(scene, [hookOf(job("migrate"), { events: ["pre-install"] })]);

    const first = await run(scene, "pre-install");
    expect(first).toMatchObject({ kind: "waiting", dueInMs: 1_000 });
    const second = await run(scene, "pre-install", waitOf(first));
    expect(second).toMatchObject({ kind: "waiting", dueInMs: 2_000 });
    await scene.settle("Job", "migrate", complete);

    expect((await run(scene, "pre-install", waitOf(second))).kind).toBe("done");
    expect(scene.writes).toEqual(["created Job/migrate"]);
  });

  test("wait for a Pod until its phase is final", async () => {
    const scene = await newScene();
    await scene.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
    const containers = [{ name: "main", image: "i" }];
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "check" }, spec: { containers } };
    await pending(scene, [hookOf(pod, { events: ["pre-install"] })]);
    const first = await run(scene, "pre-install");
    await scene.settle("Pod", "check", { phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
    const second = await run(scene, "pre-install", waitOf(first));
    expect(second.kind).toBe("waiting");
    await scene.settle("Pod", "check", { phase: "Failed" });

    expect(await run(scene, "pre-install", waitOf(second))).toMatchObject({
      kind: "failed",
      message: `failed early due to stalled resources: [Pod/${scene.namespace}/check status: 'Failed']`,
    });
  });

  test("that are a failing Job end the action, and the delete policies of both hooks apply", async () => {
    const scene = await newScene();
    const events = ["pre-install"] as const;
    await pending(scene, [
      hookOf(configMap("before"), { events, weight: -1, deletePolicies: ["hook-succeeded"] }),
      hookOf(job("migrate"), { events, deletePolicies: ["hook-failed"] }),
      hookOf(configMap("after"), { events, weight: 1 }),
    ]);
    const first = await run(scene, "pre-install");
    await scene.settle("Job", "migrate", failed);

    expect(await run(scene, "pre-install", waitOf(first))).toMatchObject({
      kind: "failed",
      message: `failed early due to stalled resources: [Job/${scene.namespace}/migrate status: 'Failed']`,
    });
    expect(phases(scene)).toEqual(["before Succeeded", "migrate Failed", "after "]);
    expect(await scene.get("ConfigMap", "before")).toBeUndefined();
    expect(await scene.get("Job", "migrate")).toBeUndefined();
  });

  test("that do not end fail after their timeout, counted from their start", async () => {
    const scene = await newScene();
    await pending(scene, [hookOf(job("slow"), { events: ["pre-install"] })]);
    await run(scene, "pre-install");
    scene.clock.advance(60_000);

    expect(await run(scene, "pre-install")).toMatchObject({
      kind: "failed",
      message: `timeout waiting for: [Job/${scene.namespace}/slow status: 'InProgress']`,
    });
  });

  test("that the API server refuses fail with Helm's text, and nothing is deleted by policy", async () => {
    const scene = await newScene();
    const wrong = { ...configMap("wrong"), unknown: true };
    const policies = ["before-hook-creation", "hook-failed"] as const;
    await pending(scene, [hookOf(wrong, { events: ["pre-install"], deletePolicies: policies })]);

    const outcome = await run(scene, "pre-install");
    expect(outcome).toMatchObject({ kind: "failed" });
    expect(outcome.kind === "failed" && outcome.message).toContain(
      "warning: Hook pre-install app/templates/wrong.yaml failed: server-side apply failed for object " +
        `${scene.namespace}/wrong /v1, Kind=ConfigMap: `,
    );
    expect(phases(scene)).toEqual(["wrong Failed"]);
  });

  test("do not take a field from another manager: the hook fails with Helm's text", async () => {
    const scene = await newScene();
    await scene.apply({ ...configMap("a"), data: { a: "of another" } });
    await pending(scene, [hookOf(configMap("a"), { events: ["pre-install"], deletePolicies: ["hook-succeeded"] })]);

    const outcome = await run(scene, "pre-install");
    expect(outcome.kind === "failed" && outcome.message).toContain(
      "warning: Hook pre-install app/templates/a.yaml failed: conflict occurred while applying object " +
        `${scene.namespace}/a /v1, Kind=ConfigMap: Apply failed with 1 conflict: `,
    );
    expect(await scene.get("ConfigMap", "a")).toBeDefined();
  });

  test("delete an object of the same name first, and wait until it is gone", async () => {
    const scene = await newScene();
    const old = configMap("a");
    await scene.apply({ ...old, metadata: { name: "a", finalizers: ["example.test/held"] } });
    await pending(scene, [hookOf(configMap("a"), { events: ["pre-install"] })]);

    const first = await run(scene, "pre-install");
    expect(first).toMatchObject({ kind: "waiting", dueInMs: 2_000 });
    expect(phases(scene)).toEqual(["a "]);
    await scene.apply({ ...old, metadata: { name: "a", finalizers: [] } });

    expect((await run(scene, "pre-install", waitOf(first))).kind).toBe("done");
    expect(scene.writes).toEqual(["deleted ConfigMap/a", "created ConfigMap/a"]);
  });

  test("that are a Job count as complete after ttlSecondsAfterFinished has deleted it", async () => {
    const scene = await newScene();
    await pending(scene, [hookOf(job("short", { ttlSecondsAfterFinished: 0 }), { events: ["pre-install"] })]);
    const first = await run(scene, "pre-install");
    const ctx = await scene.context();
    const ref = { group: "batch", version: "v1", kind: "Job", namespace: scene.namespace, name: "short" };
    await ctx.target.delete(ref, { propagation: "Background" }, ctx.run.signal);

    expect((await run(scene, "pre-install", waitOf(first))).kind).toBe("done");
    expect(scene.writes.filter((write) => write.startsWith("created"))).toHaveLength(1);
  });

  test("for two events run once for each, even if the run between them was killed", async () => {
    const scene = await newScene();
    await pending(scene, [hookOf(configMap("both"), { events: ["pre-install", "post-install"] })]);
    await run(scene, "pre-install");
    await run(scene, "pre-install");
    await run(scene, "post-install");
    await run(scene, "pre-install");
    await run(scene, "post-install");

    expect(scene.writes).toEqual(["created ConfigMap/both", "deleted ConfigMap/both", "created ConfigMap/both"]);
  });

  test("killed before or after any single effect are not created twice by the next runs, and end the same", async () => {
    const events = ["pre-install"] as const;
    for (let at = 1, isOver = false; !isOver; at++) {
      const scene = await newScene();
      await scene.apply(configMap("a"));
      await pending(scene, [
        hookOf(configMap("a"), { events, weight: -1, deletePolicies: ["before-hook-creation", "hook-succeeded"] }),
        hookOf(job("migrate"), { events }),
      ]);
      let calls = 0;
      scene.fault = (call) => {
        if (++calls === at) throw new Error(`killed at ${call}`);
      };
      isOver = await run(scene, "pre-install").then(
        () => true,
        () => false,
      );
      scene.fault = () => {};
      if (!isOver) await run(scene, "pre-install");
      await scene.settle("Job", "migrate", complete);

      expect((await run(scene, "pre-install")).kind).toBe("done");
      const created = scene.writes.filter((write) => write.startsWith("created"));
      expect(created, `killed at ${at}`).toEqual(["created ConfigMap/a", "created Job/migrate"]);
      expect(phases(scene)).toEqual(["a Succeeded", "migrate Succeeded"]);
      expect(await scene.get("ConfigMap", "a")).toBeUndefined();
    }
  });
});
