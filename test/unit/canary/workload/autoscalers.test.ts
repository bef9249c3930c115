import { beforeAll, describe, expect, test } from "vitest";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { canaryUid, putDefinition, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;
beforeAll(async () => {
  await putDefinition(embedded.cluster, {
    group: "keda.sh",
    version: "v1alpha1",
    kind: "ScaledObject",
    plural: "scaledobjects",
  });
});

const world = async (): Promise<WorkloadWorld> => await workloadWorld(embedded.cluster, `autoscaler-${spaces++}`);
const owner = [{ kind: "Canary", uid: canaryUid, controller: true }];

async function putTarget(one: WorkloadWorld): Promise<void> {
  const metadata = { labels: { app: "podinfo" } };
  const template = { metadata, spec: { containers: [{ name: "podinfod", image: "podinfo:1" }] } };
  const spec = { replicas: 0, selector: { matchLabels: { app: "podinfo" } }, template };
  await one.put({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "podinfo" }, spec });
}

async function replicasAfterScaleUp(one: WorkloadWorld, options: { readonly spec: object }): Promise<unknown> {
  await putTarget(one);
  await one.step(options).scaleFromZero();
  return objectAt(await one.get("apps/v1", "Deployment", "podinfo"), "spec")["replicas"];
}

describe("a HorizontalPodAutoscaler", () => {
  const reference = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "podinfo" };
  const options = { spec: { autoscalerRef: reference } };
  const metrics = (averageUtilization: number) => [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization } } },
  ];
  const put = async (one: WorkloadWorld, more: JsonObject = {}): Promise<void> => {
    const labels = { app: "podinfo", "kustomize.toolkit.fluxcd.io/name": "apps" };
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" };
    const spec = { scaleTargetRef, minReplicas: 2, maxReplicas: 4, metrics: metrics(80), ...more };
    await one.put({ apiVersion: "autoscaling/v2", kind: reference.kind, metadata: { name: "podinfo", labels }, spec });
  };
  const primary = async (one: WorkloadWorld) => await one.get("autoscaling/v2", reference.kind, "podinfo-primary");

  test("canary/17: has a copy that scales the primary, and is itself not changed", async () => {
    const one = await world();
    await put(one);
    const before = await one.get("autoscaling/v2", reference.kind, "podinfo");
    const scaler = one.scaler(options);
    await scaler.ensurePrimary(true);
    await scaler.pauseTarget();
    await scaler.resumeTarget();
    const live = await primary(one);
    expect(live).toMatchObject({
      metadata: { ownerReferences: owner },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo-primary" },
        minReplicas: 2,
        maxReplicas: 4,
        metrics: metrics(80),
      },
    });
    expect(live?.metadata.labels).toEqual({ app: "podinfo" });
    expect(await one.get("autoscaling/v2", reference.kind, "podinfo")).toEqual(before);
  });

  test("passes its limits to the copy only during a promotion, and once", async () => {
    const one = await world();
    await put(one);
    await one.scaler(options).ensurePrimary(true);
    await put(one, { maxReplicas: 9, metrics: metrics(50) });
    await one.scaler(options).ensurePrimary(true);
    expect(one.writes).toEqual([]);
    await one.scaler(options).ensurePrimary(false);
    expect(await primary(one)).toMatchObject({ spec: { maxReplicas: 9, metrics: metrics(50) } });
    await one.scaler(options).ensurePrimary(false);
    expect(one.writes).toEqual([]);
  });

  test("has other limits for the primary if the Canary sets them", async () => {
    const one = await world();
    await put(one);
    const autoscalerRef = { ...reference, primaryScalerReplicas: { minReplicas: 3, maxReplicas: 12 } };
    await one.scaler({ spec: { autoscalerRef } }).ensurePrimary(true);
    expect(await primary(one)).toMatchObject({ spec: { minReplicas: 3, maxReplicas: 12 } });
  });

  test("that is missing is named in the message", async () => {
    const one = await world();
    await expect(one.scaler(options).ensurePrimary(true)).rejects.toThrow(
      `HorizontalPodAutoscaler podinfo.${one.namespace} get query error: horizontalpodautoscalers.autoscaling "podinfo" not found`,
    );
  });

  test("of the primary that a user created is not overwritten", async () => {
    const one = await world();
    await put(one);
    const spec = { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "other" }, maxReplicas: 9 };
    await one.put({ apiVersion: "autoscaling/v2", kind: reference.kind, metadata: { name: "podinfo-primary" }, spec });
    await expect(one.scaler(options).ensurePrimary(true)).rejects.toThrow(
      `HorizontalPodAutoscaler podinfo-primary.${one.namespace} exists, and Canary podinfo.${one.namespace} has not made it, ` +
        "so it is not overwritten: delete or rename it, or take autoscalerRef out of the Canary",
    );
    expect(one.writes).toEqual([]);
  });

  test("of a primary whose Canary was deleted without its objects is adopted by the new Canary, and written again", async () => {
    const one = await world();
    await put(one);
    await one.scaler(options).ensurePrimary(true);
    await one.change("autoscaling/v2", reference.kind, "podinfo-primary", { metadata: { ownerReferences: null } });
    await put(one, { maxReplicas: 9 });
    await one.scaler(options).ensurePrimary(false);
    expect(await primary(one)).toMatchObject({ metadata: { ownerReferences: owner }, spec: { maxReplicas: 9 } });
    await one.scaler(options).ensurePrimary(false);
    expect(one.writes).toEqual([]);
  });

  test("tells with how many pods a run starts: one if it is missing", async () => {
    const one = await world();
    expect(await replicasAfterScaleUp(one, options)).toBe(1);
    await put(one);
    expect(await replicasAfterScaleUp(one, options)).toBe(2);
  });
});

describe("a ScaledObject", () => {
  const reference = { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "podinfo" };
  const options = { spec: { autoscalerRef: reference } };
  const paused = "autoscaling.keda.sh/paused-replicas";
  const triggers = (query: string) => [
    { type: "prometheus", name: "requests", metadata: { serverAddress: "http://prometheus", query } },
  ];
  const query = 'sum(rate(requests{app=~"podinfo|podinfo-canary"}[1m]))';
  const put = async (one: WorkloadWorld, more: JsonObject = {}): Promise<void> => {
    const annotations = { "scaledobject.keda.sh/transfer-hpa-ownership": "true" };
    const labels = { app: "podinfo", "kustomize.toolkit.fluxcd.io/name": "apps" };
    const spec = { scaleTargetRef: { name: "podinfo" }, minReplicaCount: 2, triggers: triggers(query), ...more };
    const metadata = { name: "podinfo", labels, annotations };
    await one.put({ apiVersion: reference.apiVersion, kind: reference.kind, metadata, spec });
  };
  const get = async (one: WorkloadWorld, name: string) => await one.get(reference.apiVersion, reference.kind, name);

  test("has a copy that scales the primary by its own queries", async () => {
    const one = await world();
    await put(one, { advanced: { horizontalPodAutoscalerConfig: { name: "scaler" } }, cooldownPeriod: 30 });
    await one.scaler(options).ensurePrimary(true);
    const primary = await get(one, "podinfo-primary");
    expect(primary?.metadata).toMatchObject({
      ownerReferences: owner,
      annotations: { "scaledobject.keda.sh/transfer-hpa-ownership": "true" },
    });
    expect(primary?.metadata.labels).toEqual({ app: "podinfo" });
    expect(primary?.["spec"]).toEqual({
      scaleTargetRef: { name: "podinfo-primary" },
      minReplicaCount: 2,
      cooldownPeriod: 30,
      triggers: triggers('sum(rate(requests{app=~"podinfo-primary|podinfo-primary"}[1m]))'),
      advanced: { horizontalPodAutoscalerConfig: { name: "scaler-primary" } },
    });
  });

  test("of the primary that a user created is not overwritten", async () => {
    const one = await world();
    await put(one);
    await one.put({
      ...{ apiVersion: reference.apiVersion, kind: reference.kind, metadata: { name: "podinfo-primary" } },
      spec: { scaleTargetRef: { name: "other" }, triggers: [] },
    });
    await expect(one.scaler(options).ensurePrimary(false)).rejects.toThrow(
      `ScaledObject podinfo-primary.${one.namespace} exists, and Canary podinfo.${one.namespace} has not made it`,
    );
    expect(one.writes).toEqual([]);
  });

  test("of a primary whose Canary was deleted without its objects is adopted by the new Canary, and written again", async () => {
    const one = await world();
    await put(one);
    await one.scaler(options).ensurePrimary(true);
    await one.change(reference.apiVersion, reference.kind, "podinfo-primary", { metadata: { ownerReferences: null } });
    await put(one, { minReplicaCount: 3 });
    await one.scaler(options).ensurePrimary(false);
    const after = await get(one, "podinfo-primary");
    expect(after).toMatchObject({ metadata: { ownerReferences: owner }, spec: { minReplicaCount: 3 } });
    await one.scaler(options).ensurePrimary(false);
    expect(one.writes).toEqual([]);
  });

  test("has queries and limits for the primary if the Canary sets them", async () => {
    const one = await world();
    await put(one);
    const autoscalerRef = {
      ...reference,
      primaryScalerQueries: { requests: "sum(primary)", other: "sum(other)" },
      primaryScalerReplicas: { minReplicas: 5, maxReplicas: 9 },
    };
    await one.scaler({ spec: { autoscalerRef } }).ensurePrimary(true);
    expect(await get(one, "podinfo-primary")).toMatchObject({
      spec: { minReplicaCount: 5, maxReplicaCount: 9, triggers: triggers("sum(primary)") },
    });
  });

  test("keeps the query of a trigger named like a built-in property, if the Canary sets queries of other triggers", async () => {
    const one = await world();
    const [trigger] = triggers(query);
    const named = [{ ...trigger, name: "constructor" }];
    await put(one, { triggers: named });
    const autoscalerRef = { ...reference, primaryScalerQueries: { other: "sum(other)" } };
    await one.scaler({ spec: { autoscalerRef } }).ensurePrimary(true);
    expect(await get(one, "podinfo-primary")).toMatchObject({ spec: { triggers: named } });
  });

  test("is paused at 0 replicas and resumed with one write each; a copy that is created meanwhile is not paused", async () => {
    const one = await world();
    await put(one);
    await one.scaler(options).pauseTarget();
    expect((await get(one, "podinfo"))?.metadata.annotations).toMatchObject({ [paused]: "0" });
    const scaler = one.scaler(options);
    await scaler.pauseTarget();
    expect(one.writes).toEqual([]);
    await scaler.ensurePrimary(true);
    expect((await get(one, "podinfo-primary"))?.metadata.annotations).not.toHaveProperty([paused]);
    await one.scaler(options).resumeTarget();
    expect((await get(one, "podinfo"))?.metadata.annotations).not.toHaveProperty([paused]);
    await one.scaler(options).resumeTarget();
    expect(one.writes).toEqual([]);
  });

  test("that is missing needs no resuming, so it does not block a deletion", async () => {
    const one = await world();
    await one.scaler(options).resumeTarget();
    expect(one.writes).toEqual([]);
  });

  test("passes its changes to the copy only during a promotion, and once", async () => {
    const one = await world();
    await put(one);
    await one.scaler(options).ensurePrimary(true);
    await put(one, { minReplicaCount: 3, idleReplicaCount: 0 });
    await one.scaler(options).ensurePrimary(true);
    expect(one.writes).toEqual([]);
    await one.scaler(options).ensurePrimary(false);
    expect(await get(one, "podinfo-primary")).toMatchObject({ spec: { minReplicaCount: 3, idleReplicaCount: 0 } });
    await one.scaler(options).ensurePrimary(false);
    expect(one.writes).toEqual([]);
  });

  test("tells with how many pods a run starts", async () => {
    const one = await world();
    await put(one);
    expect(await replicasAfterScaleUp(one, options)).toBe(2);
  });
});
