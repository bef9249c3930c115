import { describe, expect, test } from "vitest";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;

const templateOf = (image: string, more: JsonObject = {}) => ({
  metadata: { labels: { app: "podinfo" } },
  spec: { containers: [{ name: "podinfod", image, ...more }] },
});
const reading = { envFrom: [{ configMapRef: { name: "settings" } }] };
/** What a cluster's controller keeps of the templates that a Deployment or DaemonSet has had. */
async function keep(one: WorkloadWorld, kind: string, template: JsonObject): Promise<void> {
  const { uid = "" } = (await one.get("apps/v1", kind, "podinfo"))?.metadata ?? {};
  const ownerReferences = [{ apiVersion: "apps/v1", kind, name: "podinfo", uid, controller: true }];
  const metadata = { name: "podinfo-1", labels: { app: "podinfo" }, ownerReferences };
  if (kind === "DaemonSet") {
    const data = { spec: { template: { ...template, $patch: "replace" } } };
    return one.put({ apiVersion: "apps/v1", kind: "ControllerRevision", metadata, revision: 1, data });
  }
  const labels = { app: "podinfo", "pod-template-hash": "1" };
  const spec = { selector: { matchLabels: labels }, template: { ...template, metadata: { labels } }, replicas: 0 };
  await one.put({ apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec });
}

/** A target at rest whose first image is promoted, and whose second one a run has rejected. */
async function rejected({ kind = "Deployment", container = {}, isKept = true, spec = {} } = {}) {
  const one = await workloadWorld(embedded.cluster, `restored-${spaces++}`);
  const metadata = { name: "podinfo" };
  const whole = {
    selector: { matchLabels: { app: "podinfo" } },
    template: templateOf("podinfo:1", container),
    ...spec,
  };
  if ("envFrom" in container) {
    await one.put({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { key: "promoted" } });
  }
  await one.put({ apiVersion: "apps/v1", kind, metadata, spec: whole });
  const targetRef = { apiVersion: "apps/v1", kind, name: "podinfo" };
  await one.step({ spec: { targetRef } }).ensurePrimary();
  const { spec: lastPromotedSpec } = await one.step({ spec: { targetRef } }).revision();
  if (isKept) {
    const live = objectAt(await one.get("apps/v1", kind, "podinfo"), "spec", "template");
    await keep(one, kind, live);
  }
  const containers = [{ name: "podinfod", image: "podinfo:2", ...container }];
  const replicas = kind === "Deployment" ? { replicas: 0 } : {};
  await one.change("apps/v1", kind, "podinfo", { spec: { ...replicas, template: { spec: { containers } } } });
  const options = (status: object = {}, more: object = {}) => ({
    spec: { targetRef, ...more },
    status: { phase: "Failed", lastPromotedSpec, ...status },
  });
  const primary = async () => objectAt(await one.get("apps/v1", kind, "podinfo-primary"), "spec");
  const image = async () => {
    const [first] = [objectAt(await primary(), "template", "spec")["containers"]].flat();
    return objectAt(first)["image"];
  };
  const remove = () => one.remove("apps/v1", kind, "podinfo-primary");
  return { one, options, primary, image, remove, lastPromotedSpec };
}

describe("a primary that is missing", () => {
  test.each(["Deployment", "DaemonSet"])(
    "of a %s is recreated from the template that was last promoted",
    async (kind) => {
      const { image, one, options, primary, remove } = await rejected({ kind });
      await remove();
      expect(await one.step(options()).restorePrimary?.(true)).toMatchObject({ kind: "restored" });
      expect(await image()).toBe("podinfo:1");
      const labels = { app: "podinfo-primary" };
      expect(await primary()).toMatchObject({ template: { metadata: { labels } }, selector: { matchLabels: labels } });
      const name = kind === "Deployment" ? "Deployment" : "DaemonSet";
      expect(one.writes).toEqual([`create ${name}/podinfo-primary`]);
    },
  );

  test("is not recreated if only a ReplicaSet of another owner has that template", async () => {
    const { lastPromotedSpec, one, options, remove } = await rejected();
    await one.change("apps/v1", "ReplicaSet", "podinfo-1", { metadata: { ownerReferences: null } });
    await remove();
    expect(await one.step(options()).restorePrimary?.(true)).toEqual({
      kind: "lost",
      text:
        `deployment podinfo-primary.${one.namespace} is gone, and nothing keeps what was last promoted ` +
        `(status.lastPromotedSpec ${lastPromotedSpec}): apply that revision, or one that is to be released, ` +
        `to deployment podinfo.${one.namespace}`,
    });
    expect(one.writes).toEqual([]);
  });

  test.each(["Promoting", "Finalising", "Initializing"])(
    "in the phase %s is recreated from the target",
    async (phase) => {
      const { one, options, remove } = await rejected();
      await remove();
      expect(await one.step(options({ phase })).restorePrimary?.(false)).toBeUndefined();
    },
  );

  test("after a failed promotion, which leaves all traffic on the canary, is recreated from the target", async () => {
    const { one, options, remove } = await rejected();
    await remove();
    expect(await one.step(options({ canaryWeight: 100 })).restorePrimary?.(true)).toBeUndefined();
  });

  test("uses the copies of configs as they are, because the target's configs may be the rejected ones", async () => {
    const { one, options, primary, remove } = await rejected({ container: reading });
    await one.change("v1", "ConfigMap", "settings", { data: { key: "rejected" } });
    await remove();
    await one.step(options()).restorePrimary?.(true);
    expect(JSON.stringify(await primary())).toContain("settings-primary");
    expect((await one.get("v1", "ConfigMap", "settings-primary"))?.["data"]).toEqual({ key: "promoted" });
  });

  test("is not recreated after a failed run if a copied config is missing too; during a run the copy is recreated", async () => {
    const { one, options, remove } = await rejected({ container: reading });
    await remove();
    await one.remove("v1", "ConfigMap", "settings-primary");
    expect(await one.step(options()).restorePrimary?.(true)).toMatchObject({ kind: "lost" });
    expect(await one.step(options({ phase: "Progressing" })).restorePrimary?.(false)).toMatchObject({
      kind: "restored",
    });
    expect(await one.get("v1", "ConfigMap", "settings-primary")).toBeDefined();
  });

  test("has the minimum replicas of its autoscaler", async () => {
    const { one, options, primary, remove } = await rejected();
    await remove();
    const autoscalerRef = {
      ...{ apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "podinfo" },
      primaryScalerReplicas: { minReplicas: 3 },
    };
    await one.step(options({}, { autoscalerRef })).restorePrimary?.(true);
    expect(await primary()).toMatchObject({ replicas: 3 });
  });

  test("has the replicas that kubectl apply gave the target, or one and a Warning if these are unknown", async () => {
    const { one, options, primary, remove } = await rejected();
    await remove();
    const text = `deployment podinfo-primary.${one.namespace} was gone: it is created again from what was last promoted`;
    expect(await one.step(options()).restorePrimary?.(true)).toEqual({
      kind: "restored",
      text: `${text}, with 1 replica, since nothing tells how many it had`,
    });
    await remove();
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": '{"spec":{"replicas":4}}' };
    await one.change("apps/v1", "Deployment", "podinfo", { metadata: { annotations } });
    await one.step(options()).restorePrimary?.(true);
    expect(await primary()).toMatchObject({ replicas: 4 });
  });
});

describe("a primary at rest that another client changes", () => {
  const byHand = [{ name: "podinfod", image: "podinfo:by-hand" }];
  const changeTemplate = (one: WorkloadWorld, body: JsonObject) =>
    one.change("apps/v1", "Deployment", "podinfo-primary", { spec: { template: body } });

  test("gets back the pod spec that was last promoted, and the message names who has changed it", async () => {
    const { image, one, options } = await rejected();
    expect(await one.step(options()).restorePrimary?.(true)).toBeUndefined();
    await changeTemplate(one, { spec: { containers: byHand } });
    expect(await one.step(options({ phase: "Progressing" })).restorePrimary?.(false)).toBeUndefined();
    expect(await one.step(options()).restorePrimary?.(true)).toEqual({
      kind: "restored",
      text: `deployment podinfo-primary.${one.namespace} was changed by bench: its pods are what was last promoted again`,
    });
    expect(await image()).toBe("podinfo:1");
    expect(await one.step(options()).restorePrimary?.(true)).toBeUndefined();
    expect(one.writes).toEqual([]);
  });

  test("keeps changes that roll its pods with the same pod spec, as kubectl rollout restart does", async () => {
    const { one, options } = await rejected();
    await changeTemplate(one, { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } });
    expect(await one.step(options()).restorePrimary?.(true)).toBeUndefined();
    expect(one.writes).toEqual([]);
  });

  test("is reported and left as it is if the last promoted spec is not stored", async () => {
    const { one, options } = await rejected({ isKept: false });
    await changeTemplate(one, { spec: { containers: byHand } });
    expect(await one.step(options()).restorePrimary?.(true)).toMatchObject({
      kind: "changed",
      text: expect.stringContaining("was changed by bench, and nothing keeps what was last promoted"),
    });
    expect(one.writes).toEqual([]);
  });

  const scale = (one: WorkloadWorld, replicas: number) =>
    one.change("apps/v1", "Deployment", "podinfo-primary", { spec: { replicas } });

  test("keeps changed replicas, but is scaled up from zero", async () => {
    const { one, options, primary } = await rejected();
    await scale(one, 7);
    expect(await one.step(options()).restorePrimary?.(true)).toBeUndefined();
    await scale(one, 0);
    expect(await one.step(options()).restorePrimary?.(true)).toEqual({
      kind: "restored",
      text:
        `deployment podinfo-primary.${one.namespace} was scaled to 0 by bench: it is scaled up to 1 replica, ` +
        "since nothing tells how many it had; suspend the Canary to keep it at 0",
    });
    expect(await primary()).toMatchObject({ replicas: 1 });
  });

  test.each([
    ["after a failed promotion", { phase: "Failed", canaryWeight: 100 }, true],
    ["during a run", { phase: "Progressing" }, false],
    ["in a promotion", { phase: "Promoting" }, false],
  ] as const)("is scaled up from zero %s too, because each revision waits for it", async (_when, status, isAtRest) => {
    const { one, options, primary } = await rejected();
    await scale(one, 0);
    expect(await one.step(options(status)).restorePrimary?.(isAtRest)).toMatchObject({ kind: "restored" });
    expect(await primary()).toMatchObject({ replicas: 1 });
  });

  test("is left at zero if an autoscaler has scaled it", async () => {
    const { one, options, primary } = await rejected();
    await scale(one, 0);
    const autoscalerRef = { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "podinfo" };
    expect(await one.step(options({}, { autoscalerRef })).restorePrimary?.(true)).toBeUndefined();
    expect(await primary()).toMatchObject({ replicas: 0 });
  });
});
