import { beforeAll, describe, expect, test } from "vitest";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { putDefinition, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;
beforeAll(async () => {
  await putDefinition(embedded.cluster, { ...group, kind: "Service", plural: "services" });
  await putDefinition(embedded.cluster, { ...group, kind: "Revision", plural: "revisions" });
});

const group = { group: "serving.knative.dev", version: "v1" };
const apiVersion = "serving.knative.dev/v1";
const targetRef = { apiVersion, kind: "Service", name: "web" };
const initializing = { spec: { targetRef }, status: { phase: "Initializing" } };
const atRest = { spec: { targetRef }, status: { phase: "Initialized" } };

async function putRevision(one: WorkloadWorld, name: string, isReady: boolean): Promise<void> {
  const conditions = [{ type: "Ready", status: isReady ? "True" : "Unknown" }];
  await one.put({
    apiVersion,
    kind: "Revision",
    metadata: { name },
    spec: {},
    status: { observedGeneration: 1, conditions },
  });
}

async function world(): Promise<WorkloadWorld> {
  const one = await workloadWorld(embedded.cluster, `knative-${spaces++}`);
  const status: JsonObject = { latestCreatedRevisionName: "web-1" };
  await one.put({ apiVersion, kind: "Service", metadata: { name: "web" }, spec: {}, status });
  await putRevision(one, "web-1", true);
  return one;
}

const service = async (one: WorkloadWorld) => await one.get(apiVersion, "Service", "web");
const create = async (one: WorkloadWorld, latestCreatedRevisionName: string): Promise<void> => {
  await one.change(apiVersion, "Service", "web", { status: { latestCreatedRevisionName } });
};

describe("a Service of Knative as target", () => {
  test("has its latest revision as primary, which gets all requests, until it is initialised", async () => {
    const one = await world();
    await one.step(initializing).ensurePrimary();
    expect(await service(one)).toMatchObject({
      metadata: { annotations: { "flagger.app/primary-revision": "web-1" } },
      spec: {
        traffic: [
          { latestRevision: true, percent: 0 },
          { revisionName: "web-1", percent: 100 },
        ],
      },
    });
    await one.step(initializing).ensurePrimary();
    expect(one.writes).toEqual([]);
    await create(one, "web-2");
    await one.step(atRest).ensurePrimary();
    expect(one.writes).toEqual([]);
  });

  test("changes with its latest revision, which a promotion makes the primary, once", async () => {
    const one = await world();
    await one.step(initializing).ensurePrimary();
    const { spec } = await one.step(atRest).revision();
    await create(one, "web-2");
    expect((await one.step(atRest).revision()).spec).not.toBe(spec);
    expect(await one.step(atRest).isPromoted?.()).toBe(false);
    await one.step(atRest).promote();
    expect(await one.step(atRest).isPromoted?.()).toBe(true);
    expect((await service(one))?.metadata.annotations).toEqual({ "flagger.app/primary-revision": "web-2" });
    expect(objectAt(await service(one), "spec")["traffic"]).toMatchObject([{}, { revisionName: "web-1" }]);
    await one.step(atRest).promote();
    expect(one.writes).toEqual([]);
  });

  test("serves when its revisions are ready", async () => {
    const one = await world();
    const text = `Knative Service web.${one.namespace} primary revision annotation not found`;
    expect(await one.step(atRest).primaryReadiness()).toEqual({ isReady: false, message: text, isRetriable: true });
    await one.step(initializing).ensurePrimary();
    await create(one, "web-2");
    await putRevision(one, "web-2", false);
    const step = one.step(atRest);
    expect(await step.primaryReadiness()).toEqual({ isReady: true });
    const message = `Knative Revision web-2.${one.namespace} is not ready`;
    expect(await step.canaryReadiness()).toEqual({ isReady: false, message, isRetriable: true });
  });

  test("without a revision, or missing, is named in the message", async () => {
    const one = await world();
    await create(one, "web-2");
    await expect(one.step(atRest).canaryReadiness()).rejects.toThrow(
      `Knative Revision web-2.${one.namespace} get query error: revisions.serving.knative.dev "web-2" not found`,
    );
    await one.remove(apiVersion, "Service", "web");
    await expect(one.step(atRest).promote()).rejects.toThrow(
      `Knative Service web.${one.namespace} get query error: services.serving.knative.dev "web" not found`,
    );
  });
});
