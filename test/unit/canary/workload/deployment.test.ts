import { describe, expect, test } from "vitest";
import type { StepMemory } from "../../../../lib/canary/canary-deps.ts";
import { objectAt } from "../../../../lib/canary/workload/fields.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { fileCluster } from "../../../doubles/file-cluster.ts";
import { canaryUid, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

const embedded = fileCluster({ definitions: false, controllers: false });
let spaces = 0;

const container = { name: "podinfod", image: "podinfo:1", ports: [{ name: "http", containerPort: 9898 }] };

interface Target {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly matchLabels?: Record<string, string>;
  readonly replicas?: number;
  readonly podSpec?: JsonObject;
  readonly podLabels?: Record<string, string>;
  readonly podAnnotations?: Record<string, string>;
}

async function world(target: Target = {}): Promise<WorkloadWorld> {
  const one = await workloadWorld(embedded.cluster, `deployment-${spaces++}`);
  const { labels = {}, annotations = {}, matchLabels = { app: "podinfo" }, replicas = 2 } = target;
  const template = {
    metadata: {
      labels: { ...matchLabels, team: "web", ...target.podLabels },
      annotations: target.podAnnotations ?? {},
    },
    spec: { containers: [container], ...target.podSpec },
  };
  const spec = { replicas, selector: { matchLabels }, template };
  await one.put({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "podinfo", labels, annotations },
    spec,
  });
  return one;
}

const get = async (one: WorkloadWorld, name: string) => await one.get("apps/v1", "Deployment", name);
const replicasOf = async (one: WorkloadWorld, name: string) => objectAt(await get(one, name), "spec")["replicas"];
const scale = async (one: WorkloadWorld, name: string, replicas: number) => {
  await one.change("apps/v1", "Deployment", name, { spec: { replicas } });
};
const promoted = (transition: string) => ({
  phase: "Progressing",
  conditions: [
    { type: "Promoted", status: "Unknown", message: "", reason: "Progressing", lastTransitionTime: transition },
  ],
});
const firstRun = { status: promoted("2026-11-22T12:01:00Z") };
const secondRun = { status: promoted("2026-11-22T13:01:00Z") };
const idOf = async (one: WorkloadWorld) =>
  objectAt(await get(one, "podinfo-primary"), "spec", "template", "metadata", "annotations")["flagger-id"];

describe("the pods of a Deployment", () => {
  test("canary/8: without a label that tells them apart nothing is created", async () => {
    const one = await world({ matchLabels: { component: "podinfo" } });
    const text =
      `getSelectorLabel failed: deployment podinfo.${one.namespace} spec.selector.matchLabels ` +
      "must contain one of [app name app.kubernetes.io/name]";
    await expect(one.step().metadata()).rejects.toThrow(text);
    await expect(one.step().ensurePrimary()).rejects.toThrow(`createPrimaryDeployment failed: ${text}`);
    expect(one.writes).toEqual([]);
  });

  test("are told apart by the first label of the settings that is in the selector", async () => {
    const one = await world({ matchLabels: { name: "by-name", "app.kubernetes.io/name": "by-long-name" } });
    expect(await one.step().metadata()).toEqual({ label: "name", labelValue: "by-name", ports: new Map() });
    const settings = { selectorLabels: ["app.kubernetes.io/name"] };
    expect(await one.step({}, settings).metadata()).toMatchObject({ labelValue: "by-long-name" });
  });

  test("of a missing target: the message says so", async () => {
    const one = await workloadWorld(embedded.cluster, `deployment-${spaces++}`);
    await expect(one.step().metadata()).rejects.toThrow(
      `deployment podinfo.${one.namespace} get query error: deployments.apps "podinfo" not found`,
    );
  });
});

describe("a Deployment that is missing", () => {
  test("is known from its primary, whose selector names the label and the value of the target's", async () => {
    const one = await world({ matchLabels: { name: "web" } });
    await one.step().ensurePrimary();
    expect(await one.step().metadataWithoutTarget?.()).toBeUndefined();
    await one.remove("apps/v1", "Deployment", "podinfo");
    expect(await one.step().metadataWithoutTarget?.()).toEqual({ label: "name", labelValue: "web", ports: new Map() });
    await one.remove("apps/v1", "Deployment", "podinfo-primary");
    expect(await one.step().metadataWithoutTarget?.()).toBeUndefined();
  });
});

describe("the primary of a Deployment", () => {
  test("of a Canary that was deleted and created again must be gone first, because otherwise nothing would serve", async () => {
    const one = await world();
    await one.step({ uid: "former" }).ensurePrimary();
    const text =
      `createPrimaryDeployment failed: Deployment podinfo-primary.${one.namespace} ` +
      "belongs to a Canary podinfo that was deleted: it is created again once the cluster has removed it";
    await expect(one.step().ensurePrimary()).rejects.toThrow(text);
    await one.remove("apps/v1", "Deployment", "podinfo-primary");
    await one.step().ensurePrimary();
    expect((await get(one, "podinfo-primary"))?.metadata.ownerReferences).toMatchObject([{ uid: canaryUid }]);
  });

  test("is not overwritten if a user created a Deployment of its name, and the message says how to fix that", async () => {
    const one = await world();
    const labels = { app: "other" };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const spec = { selector: { matchLabels: labels }, template };
    await one.put({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "podinfo-primary" }, spec });
    await expect(one.step().ensurePrimary()).rejects.toThrow(
      `createPrimaryDeployment failed: Deployment podinfo-primary.${one.namespace} exists, and Canary ` +
        `podinfo.${one.namespace} has not made it, so it is not overwritten: delete or rename it, or give the Canary another target`,
    );
    expect(one.writes).toEqual([]);
  });

  test("of a Canary that was deleted without its objects is adopted", async () => {
    const one = await world();
    await one.step().ensurePrimary();
    await one.change("apps/v1", "Deployment", "podinfo-primary", { metadata: { ownerReferences: null } });
    await one.step().ensurePrimary();
    expect((await get(one, "podinfo-primary"))?.metadata.ownerReferences).toMatchObject([{ uid: canaryUid }]);
    await one.step().ensurePrimary();
    expect(one.writes).toEqual([]);
  });

  test("canary/3, 4, 5, 16: has its own selector, no label or annotation of Flux and the target's replicas", async () => {
    const one = await world({
      labels: { app: "podinfo", "kustomize.toolkit.fluxcd.io/name": "apps", "team/name": "web" },
      annotations: { owner: "web", "kustomize.toolkit.fluxcd.io/prune": "disabled" },
      matchLabels: { app: "podinfo", tier: "front" },
      podLabels: { "helm.toolkit.fluxcd.io/name": "podinfo" },
      podAnnotations: { scrape: "true", "kustomize.toolkit.fluxcd.io/ssa": "merge", "flagger-id": "of-the-target" },
      replicas: 3,
    });
    await one.step({}, { includeLabelPrefixes: ["team/", "kustomize"] }).ensurePrimary();
    const primary = await get(one, "podinfo-primary");
    expect(primary?.metadata.labels).toEqual({ app: "podinfo-primary", "team/name": "web" });
    expect(primary?.metadata.annotations).toEqual({ owner: "web" });
    expect(primary?.metadata.ownerReferences).toMatchObject([
      { kind: "Canary", uid: canaryUid, controller: true, blockOwnerDeletion: true },
    ]);
    expect(primary?.["spec"]).toMatchObject({
      replicas: 3,
      selector: { matchLabels: { app: "podinfo-primary" } },
      template: {
        metadata: {
          labels: { app: "podinfo-primary", tier: "front", team: "web" },
          annotations: {
            scrape: "true",
            "flagger-id": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
          },
        },
      },
    });
    expect(objectAt(primary, "spec", "selector", "matchLabels")).toEqual({ app: "podinfo-primary" });
    expect(JSON.stringify([primary?.metadata.labels, primary?.["spec"]])).not.toContain("toolkit.fluxcd.io");
  });

  test("canary/5: has one replica if the target has none", async () => {
    const one = await world({ replicas: 0 });
    await one.step().ensurePrimary();
    expect(await replicasOf(one, "podinfo-primary")).toBe(1);
  });

  test("is created once: a step that finds it reads both Deployments once and writes nothing", async () => {
    const one = await world();
    await one.step().ensurePrimary();
    const step = one.step();
    await step.metadata();
    await step.ensurePrimary();
    await step.primaryReadiness();
    await step.canaryReadiness();
    await step.revision();
    expect(one.reads).toEqual(["Deployment/podinfo", "Deployment/podinfo-primary"]);
    expect(one.writes).toEqual([]);
  });

  const shared = { label: "app", value: "podinfo" };
  const list = "list Deployment app in (podinfo,podinfo-primary)";

  /** What a step with this memory has read when it has looked at both, and what it tells the next one. */
  async function readBoth(one: WorkloadWorld, memory?: StepMemory) {
    const step = one.step(firstRun, {}, { memory });
    await step.ensurePrimary();
    await step.primaryReadiness();
    const sharedLabel = await step.sharedLabel?.();
    return { reads: [...one.reads], sharedLabel };
  }

  test("is read together with its target, once a step has seen that they share a label", async () => {
    const one = await world({ labels: { app: "podinfo" } });
    await one.step().ensurePrimary();
    const first = await readBoth(one);
    expect(first).toEqual({
      reads: ["Deployment/podinfo", "Deployment/podinfo-primary"],
      sharedLabel: shared,
    });
    expect(await readBoth(one, { sharedLabel: shared })).toEqual({ reads: [list], sharedLabel: shared });
  });

  test("is read by its name if target or primary lacks the label", async () => {
    const one = await world();
    await one.step().ensurePrimary();
    expect(await readBoth(one)).toMatchObject({ sharedLabel: undefined });
    expect(await readBoth(one, { sharedLabel: shared })).toEqual({
      reads: [list, "Deployment/podinfo"],
      sharedLabel: undefined,
    });
  });

  test("is read by its name in later steps if the list contains too many others, or is forbidden", async () => {
    const one = await world({ labels: { app: "podinfo" } });
    await one.step().ensurePrimary();
    const { spec } = objectAt({ live: await get(one, "podinfo") }, "live");
    for (let others = 0; others < 5; others++) {
      const metadata = { name: `worker-${others}`, labels: { app: "podinfo" } };
      await one.put({ apiVersion: "apps/v1", kind: "Deployment", metadata, ...(spec === undefined ? {} : { spec }) });
    }
    expect(await readBoth(one, { sharedLabel: shared })).toEqual({ reads: [list], sharedLabel: "none" });
    expect(await readBoth(one, { sharedLabel: "none" })).toEqual({
      reads: ["Deployment/podinfo", "Deployment/podinfo-primary"],
      sharedLabel: "none",
    });
    one.forbidden.add("list");
    expect(await readBoth(one, { sharedLabel: shared })).toEqual({
      reads: [list, "Deployment/podinfo", "Deployment/podinfo-primary"],
      sharedLabel: "none",
    });
  });

  test("has the same anti-affinity as the target, for its own pods", async () => {
    const labelSelector = { matchExpressions: [{ key: "app", operator: "In", values: ["other", "podinfo"] }] };
    const topologyKey = "kubernetes.io/hostname";
    const one = await world({
      podSpec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey,
            whenUnsatisfiable: "DoNotSchedule",
            labelSelector: { matchLabels: { app: "podinfo" } },
          },
        ],
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }],
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, podAffinityTerm: { topologyKey, labelSelector } },
            ],
          },
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector }] },
        },
      },
    });
    await one.step().ensurePrimary();
    const renamed = { matchExpressions: [{ key: "app", operator: "In", values: ["other", "podinfo-primary"] }] };
    expect(objectAt(await get(one, "podinfo-primary"), "spec", "template", "spec")).toMatchObject({
      topologySpreadConstraints: [{ labelSelector: { matchLabels: { app: "podinfo-primary" } } }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: renamed }],
          preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { labelSelector: renamed } }],
        },
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector }] },
      },
    });
  });
});

describe("a promotion", () => {
  async function initialized(target?: Target): Promise<WorkloadWorld> {
    const one = await world(target);
    await one.step().ensurePrimary();
    return one;
  }

  test("canary/56: copies the template and the rollout settings, and removes what the target no longer has", async () => {
    const one = await initialized({ podAnnotations: { scrape: "true" }, labels: { "team/name": "web" } });
    await one.change("apps/v1", "Deployment", "podinfo-primary", {
      metadata: { annotations: { "deployment.kubernetes.io/revision": "1" } },
    });
    await one.change("apps/v1", "Deployment", "podinfo", {
      spec: {
        minReadySeconds: 5,
        strategy: { type: "Recreate", rollingUpdate: null },
        template: {
          metadata: { annotations: { scrape: null } },
          spec: { containers: [{ name: "podinfod", image: "podinfo:2" }] },
        },
      },
    });
    await one.step(firstRun, { includeLabelPrefixes: ["team/"] }).promote();
    const [target, primary] = [await get(one, "podinfo"), await get(one, "podinfo-primary")];
    const ofTarget = objectAt(target, "spec");
    const ofPrimary = objectAt(primary, "spec");
    expect(objectAt(ofPrimary, "template", "spec")).toEqual(objectAt(ofTarget, "template", "spec"));
    expect(ofPrimary).toMatchObject({ minReadySeconds: 5, strategy: { type: "Recreate" } });
    expect(Object.keys(objectAt(ofPrimary, "template", "metadata", "annotations"))).toEqual(["flagger-id"]);
    expect(primary?.metadata.labels).toEqual({ app: "podinfo-primary", "team/name": "web" });
    expect(primary?.metadata.annotations).toEqual({ "deployment.kubernetes.io/revision": "1" });
  });

  test("rolls the primary once in each run, also back to what ran before", async () => {
    const one = await initialized();
    const ids = [await idOf(one)];
    expect(await one.step(firstRun).isPromoted?.()).toBe(false);
    await one.step(firstRun).promote();
    ids.push(await idOf(one));
    expect(await one.step(firstRun).isPromoted?.()).toBe(true);
    await one.step(firstRun).promote();
    expect(one.writes).toEqual([]);
    expect(await one.step(secondRun).isPromoted?.()).toBe(false);
    await one.step(secondRun).promote();
    ids.push(await idOf(one));
    expect(new Set(ids).size).toBe(3);
  });

  test("copies the target's replicas, but never 0, because a user may have scaled it down during the run", async () => {
    const one = await initialized();
    await scale(one, "podinfo", 4);
    await one.step(firstRun).promote();
    expect(await replicasOf(one, "podinfo-primary")).toBe(4);
    await scale(one, "podinfo", 0);
    await one.step(secondRun).promote();
    expect(await replicasOf(one, "podinfo-primary")).toBe(4);
  });

  test("keeps the replicas of a primary that an autoscaler scales", async () => {
    const one = await initialized();
    await scale(one, "podinfo", 4);
    await one
      .step({
        ...firstRun,
        spec: { autoscalerRef: { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", name: "podinfo" } },
      })
      .promote();
    expect(await replicasOf(one, "podinfo-primary")).toBe(2);
  });

  test("of a missing primary: the message says so", async () => {
    const one = await world();
    const primary = `deployment podinfo-primary.${one.namespace}`;
    await expect(one.step(firstRun).promote()).rejects.toThrow(
      `updating ${primary} template spec failed: ${primary} get query error: deployments.apps "podinfo-primary" not found`,
    );
  });
});

describe("the revision of a Deployment", () => {
  test("canary/18: changes with the template, not with replicas, labels or annotations", async () => {
    const one = await world();
    const { spec } = await one.step().revision();
    await one.change("apps/v1", "Deployment", "podinfo", {
      metadata: { labels: { one: "more" }, annotations: { one: "more" } },
      spec: { replicas: 7, minReadySeconds: 5 },
    });
    expect((await one.step().revision()).spec).toBe(spec);
    await one.change("apps/v1", "Deployment", "podinfo", {
      spec: { template: { metadata: { labels: { one: "more" } } } },
    });
    expect((await one.step().revision()).spec).not.toBe(spec);
  });

  test("is unset after an initialisation whose primary was made from an earlier template, so that a run brings it", async () => {
    const one = await world({ podAnnotations: { scrape: "true" } });
    const initialising = { status: { ...firstRun.status, phase: "Initializing" } };
    await one.step(initialising).ensurePrimary();
    const { spec } = await one.step(initialising).revision();
    expect(spec).not.toBe("");
    const byWebhook = { spec: { template: { metadata: { labels: { by: "webhook" } } } } };
    await one.change("apps/v1", "Deployment", "podinfo-primary", byWebhook);
    expect((await one.step(initialising).revision()).spec).toBe(spec);
    await one.change("apps/v1", "Deployment", "podinfo", {
      spec: { template: { metadata: { labels: { one: "more" } } } },
    });
    expect((await one.step(initialising).revision()).spec).toBe("");
  });

  test("is the promoted one if another version of Flagger hashed the primary's template", async () => {
    const one = await world();
    await one.step().ensurePrimary();
    const foreign = { lastAppliedSpec: "foreign", lastPromotedSpec: "foreign" };
    const atRest = { status: { phase: "Succeeded", ...foreign } };
    expect((await one.step(atRest).revision()).spec).toBe("foreign");
    expect((await one.step({ status: { phase: "Progressing", ...foreign } }).revision()).spec).not.toBe("foreign");
    await one.change("apps/v1", "Deployment", "podinfo", {
      spec: { template: { metadata: { labels: { one: "more" } } } },
    });
    expect((await one.step(atRest).revision()).spec).not.toBe("foreign");
  });
});

describe("scaling a Deployment", () => {
  const down = async (one: WorkloadWorld): Promise<void> => await one.step().scaleToZero();

  test("sets only its replicas, and writes only changes", async () => {
    const one = await world();
    expect(await one.step().isAtZero?.()).toBe(false);
    await down(one);
    expect(await replicasOf(one, "podinfo")).toBe(0);
    expect(one.writes).toEqual(["patch Deployment/podinfo"]);
    expect(await one.step().isAtZero?.()).toBe(true);
    await down(one);
    expect(one.writes).toEqual([]);
  });

  test("up uses the replicas of the primary, or keeps its own if it has some", async () => {
    const one = await world({ replicas: 3 });
    await one.step().ensurePrimary();
    await down(one);
    await one.step().scaleFromZero();
    expect(await replicasOf(one, "podinfo")).toBe(3);
    await scale(one, "podinfo", 1);
    await one.step().scaleFromZero();
    expect(one.writes).toEqual([]);
  });

  test("canary/65: at the end uses the primary's replicas, or one if there is no primary", async () => {
    const one = await world({ replicas: 3 });
    await one.step().ensurePrimary();
    await scale(one, "podinfo-primary", 5);
    await down(one);
    await one.step().finalize();
    expect(await replicasOf(one, "podinfo")).toBe(5);
    await down(one);
    await one.remove("apps/v1", "Deployment", "podinfo-primary");
    // A kind that the cluster does not serve: its minimum is not known.
    const spec = { autoscalerRef: { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", name: "podinfo" } };
    await one.step({ spec }).finalize();
    expect(await replicasOf(one, "podinfo")).toBe(1);
  });
});
