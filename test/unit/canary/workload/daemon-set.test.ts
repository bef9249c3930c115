import { describe, expect, test } from "vitest";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;

const target = { spec: { targetRef: { apiVersion: "apps/v1", kind: "DaemonSet", name: "agent" } } };
const noNode = { "flagger.app/scale-to-zero": "true" };

async function world(spec: JsonObject = {}, podSpec: JsonObject = {}, label = "app"): Promise<WorkloadWorld> {
  const one = await workloadWorld(embedded.cluster, `daemonset-${spaces++}`);
  const template = {
    metadata: { labels: { [label]: "agent" } },
    spec: { containers: [{ name: "agent", image: "agent:1" }], ...podSpec },
  };
  await one.put({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: { selector: { matchLabels: { [label]: "agent" } }, template, ...spec },
  });
  return one;
}

const specOf = async (one: WorkloadWorld, name: string) =>
  objectAt(await one.get("apps/v1", "DaemonSet", name), "spec");
const selectorOf = async (one: WorkloadWorld, name: string) =>
  objectAt(await specOf(one, name), "template", "spec")["nodeSelector"];

describe("a DaemonSet as target", () => {
  test("is scaled down by a node selector that matches no node, in addition to its own, and scaled up without it", async () => {
    const one = await world({}, { nodeSelector: { disk: "ssd" } });
    const { spec } = await one.step(target).revision();
    expect(await one.step(target).isAtZero?.()).toBe(false);
    await one.step(target).scaleToZero();
    expect(await one.step(target).isAtZero?.()).toBe(true);
    expect(await selectorOf(one, "agent")).toEqual({ disk: "ssd", ...noNode });
    await one.step(target).scaleToZero();
    expect(one.writes).toEqual([]);
    expect((await one.step(target).revision()).spec).toBe(spec);
    await one.step(target).scaleFromZero();
    expect(await selectorOf(one, "agent")).toEqual({ disk: "ssd" });
    await one.step(target).finalize();
    expect(one.writes).toEqual([]);
  });

  test("has the same revision with and without an empty node selector", async () => {
    const one = await world();
    const { spec } = await one.step(target).revision();
    await one.step(target).scaleToZero();
    expect((await one.step(target).revision()).spec).toBe(spec);
  });

  test("canary/3, 4: gets a primary that runs on all nodes, also if it is created while the target is scaled down", async () => {
    const one = await world({ minReadySeconds: 3 });
    await one.step(target).scaleToZero();
    await one.step(target).ensurePrimary();
    const primary = await specOf(one, "agent-primary");
    expect(primary).toMatchObject({
      minReadySeconds: 3,
      selector: { matchLabels: { app: "agent-primary" } },
      template: { metadata: { labels: { app: "agent-primary" } } },
    });
    expect(await selectorOf(one, "agent-primary")).toBeUndefined();
  });

  test("canary/56: promotes its template without that node selector, once", async () => {
    const one = await world();
    await one.step(target).ensurePrimary();
    await one.step(target).scaleToZero();
    const containers = [{ name: "agent", image: "agent:2" }];
    await one.change("apps/v1", "DaemonSet", "agent", { spec: { template: { spec: { containers } } } });
    await one.step(target).promote();
    expect(objectAt(await specOf(one, "agent-primary"), "template", "spec")).toMatchObject({
      containers: [{ image: "agent:2" }],
    });
    expect(await selectorOf(one, "agent-primary")).toBeUndefined();
    await one.step(target).promote();
    expect(one.writes).toEqual([]);
  });

  test("must have the update strategy RollingUpdate, because nothing else updates the primary", async () => {
    const one = await world({ updateStrategy: { type: "OnDelete" } });
    await expect(one.step(target).ensurePrimary()).rejects.toThrow(
      `createPrimaryDaemonSet failed: daemonset agent.${one.namespace} must have RollingUpdate strategy but have OnDelete`,
    );
  });

  test("canary/8: without a label that tells its pods apart nothing is created", async () => {
    const one = await world({}, {}, "component");
    await expect(one.step(target).metadata()).rejects.toThrow(
      `getSelectorLabel failed: daemonset agent.${one.namespace} spec.selector.matchLabels must contain one of [app name app.kubernetes.io/name]'`,
    );
  });
});
