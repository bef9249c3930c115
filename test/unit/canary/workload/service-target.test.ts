import { describe, expect, test } from "vitest";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { canaryUid, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;

const target = { spec: { targetRef: { apiVersion: "v1", kind: "Service", name: "backend" } } };
const external = (externalName: string) => ({ type: "ExternalName", externalName });
const internal = { selector: { app: "backend" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };

async function world(spec: JsonObject): Promise<WorkloadWorld> {
  const one = await workloadWorld(embedded.cluster, `service-${spaces++}`);
  const labels = { team: "web", "kustomize.toolkit.fluxcd.io/name": "apps" };
  const annotations = { owner: "web", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
  await one.put({ apiVersion: "v1", kind: "Service", metadata: { name: "backend", labels, annotations }, spec });
  return one;
}

const get = async (one: WorkloadWorld, name: string) => await one.get("v1", "Service", name);
const specOf = async (one: WorkloadWorld, name: string) => objectAt(await get(one, name), "spec");

describe("a Service as target", () => {
  test("has one copy for the canary and one for the primary; only a promotion changes that of the primary", async () => {
    const one = await world(external("one.example.com"));
    await one.step(target).ensurePrimary();
    for (const name of ["backend-canary", "backend-primary"]) {
      const copy = await get(one, name);
      expect(copy?.["spec"]).toMatchObject(external("one.example.com"));
      expect(copy?.metadata).toMatchObject({ labels: { team: "web" }, annotations: { owner: "web" } });
      expect(copy?.metadata).toMatchObject({ ownerReferences: [{ uid: canaryUid, controller: true }] });
    }
    await one.step(target).ensurePrimary();
    expect(one.writes).toEqual([]);
    const atRest = { ...target, status: { phase: "Initialized" } };
    const { spec } = await one.step(target).revision();
    expect(spec).toBe((await one.step(atRest).revision()).spec);
    await one.change("v1", "Service", "backend", { spec: external("two.example.com") });
    expect((await one.step(atRest).revision()).spec).not.toBe(spec);
    expect((await one.step(target).revision()).spec).toBe("");
    await one.step(target).ensurePrimary();
    expect(await specOf(one, "backend-canary")).toMatchObject(external("two.example.com"));
    expect(await specOf(one, "backend-primary")).toMatchObject(external("one.example.com"));
    await one.step(target).promote();
    expect(await specOf(one, "backend-primary")).toMatchObject(external("two.example.com"));
    await one.step(target).promote();
    expect(one.writes).toEqual([]);
  });

  test.each([{ clusterIP: undefined }, { clusterIP: "None" }])(
    "may have a cluster IP ($clusterIP): each copy has its own, and keeps it",
    async ({ clusterIP }) => {
      const one = await world(clusterIP === undefined ? internal : { ...internal, clusterIP });
      await one.step(target).ensurePrimary();
      const before = await specOf(one, "backend-primary");
      const addresses = [await specOf(one, "backend"), before].map((spec) => spec["clusterIP"]);
      expect(addresses[0] === addresses[1]).toBe(clusterIP === "None");
      await one.change("v1", "Service", "backend", { spec: { selector: { app: "other" } } });
      await one.step(target).promote();
      expect(await specOf(one, "backend-primary")).toMatchObject({
        selector: { app: "other" },
        clusterIP: before["clusterIP"],
      });
    },
  );

  test("a promotion filters labels and annotations to the included ones, and the Canary stays the owner", async () => {
    const one = await world(external("one.example.com"));
    await one.step(target).ensurePrimary();
    await one.step(target, { includeLabelPrefixes: ["own"] }).promote();
    const primary = await get(one, "backend-primary");
    expect(primary?.metadata.labels).toBeUndefined();
    expect(primary?.metadata.annotations).toEqual({ owner: "web" });
    expect(primary?.metadata.ownerReferences).toMatchObject([{ uid: canaryUid }]);
  });

  const theirs = { ...internal, selector: { app: "theirs" } };
  const owner = {
    apiVersion: "example.test/v1",
    kind: "Site",
    name: "web",
    uid: "2d6c1c5e-5c1b-4f7e-9c39-0d1f5b2c7a10",
  };

  test.each([
    { what: "for the canary", name: "backend-canary", spec: theirs },
    { what: "for the primary", name: "backend-primary", spec: theirs },
    {
      what: "for the primary, equal to the target,",
      name: "backend-primary",
      spec: internal,
      owners: [owner],
    },
  ])("a copy $what that a user created is refused, and nothing is written", async ({ name, spec, owners }) => {
    const one = await world(internal);
    const metadata = owners === undefined ? { name } : { name, ownerReferences: owners };
    await one.put({ apiVersion: "v1", kind: "Service", metadata, spec });
    await expect(one.step(target).ensurePrimary()).rejects.toThrow(
      new StepFault(
        `Service ${name}.${one.namespace} exists, and Canary podinfo.${one.namespace} has not made it, so it is not ` +
          "overwritten: delete or rename it, or give the Canary another target",
      ),
    );
    expect(one.writes).toEqual([]);
  });

  test("a primary's copy without an owner, as Flagger leaves it, is accepted, also after the target has changed", async () => {
    const one = await world({ ...internal, type: "NodePort" });
    await one.put({ apiVersion: "v1", kind: "Service", metadata: { name: "backend-primary" }, spec: internal });
    await one.step(target).ensurePrimary();
    expect(one.writes).toEqual(["create Service/backend-canary"]);
    await one.change("v1", "Service", "backend", { spec: { selector: { app: "other" } } });
    await one.step({ ...target, status: { phase: "Progressing", lastPromotedSpec: "5f6" } }).ensurePrimary();
    expect(one.writes).toEqual(["patch Service/backend-canary"]);
  });

  test("has no pods to wait for, to scale or to select", async () => {
    const one = await world(external("one.example.com"));
    const step = one.step(target);
    expect(await step.metadata()).toEqual({ label: "", labelValue: "", ports: new Map() });
    expect([await step.primaryReadiness(), await step.canaryReadiness()]).toEqual([
      { isReady: true },
      { isReady: true },
    ]);
    await step.scaleToZero();
    await step.scaleFromZero();
    await step.finalize();
    expect([one.reads, one.writes]).toEqual([[], []]);
  });
});
