import { describe, expect, test } from "vitest";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster();

const replicasOf = async (one: WorkloadWorld, name: string) =>
  objectAt(await one.get("apps/v1", "Deployment", name), "status")["availableReplicas"] ?? 0;

describe("one release, with the controllers of a cluster", () => {
  test("pods of the primary serve before the target is scaled to zero, and get the new template while the target still runs", async () => {
    const one = await workloadWorld(embedded.cluster, "one-release");
    const metadata = { labels: { app: "podinfo" } };
    const template = { metadata, spec: { containers: [{ name: "podinfod", image: "podinfo:1" }] } };
    const spec = { replicas: 2, selector: { matchLabels: { app: "podinfo" } }, template };
    await one.put({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "podinfo" }, spec });
    const targetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" };
    const analysis = { interval: "10s", threshold: 5, maxWeight: 50, stepWeight: 10 };
    const canary = { targetRef, service: { port: 9898 }, analysis };
    await one.put({ apiVersion: "flagger.app/v1beta1", kind: "Canary", metadata: { name: "podinfo" }, spec: canary });
    // Owned by an object that is there: the garbage collector deletes what is not.
    const { uid = "" } = (await one.get("flagger.app/v1beta1", "Canary", "podinfo"))?.metadata ?? {};
    const isReady = (which: "primaryReadiness" | "canaryReadiness") => async () =>
      (await one.step({ uid })[which]()).isReady;

    await one.step({ uid }).ensurePrimary();
    expect(await one.step({ uid }).primaryReadiness()).toMatchObject({ isReady: false, isRetriable: true });
    await expect.poll(isReady("primaryReadiness")).toBe(true);
    await one.step({ uid }).scaleToZero();
    await expect.poll(async () => await replicasOf(one, "podinfo")).toBe(0);

    const containers = [{ name: "podinfod", image: "podinfo:2" }];
    await one.change("apps/v1", "Deployment", "podinfo", { spec: { template: { spec: { containers } } } });
    await one.step({ uid }).scaleFromZero();
    await expect.poll(isReady("canaryReadiness")).toBe(true);
    expect(await replicasOf(one, "podinfo")).toBe(2);
    await one.step({ uid }).promote();
    expect((await one.step({ uid }).primaryReadiness()).isReady).toBe(false);
    await expect.poll(isReady("primaryReadiness")).toBe(true);
    expect(await replicasOf(one, "podinfo-primary")).toBe(2);
    expect(await one.step({ uid }).isPromoted?.()).toBe(true);
  });
});
