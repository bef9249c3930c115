import { equal, type JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { StepDeps } from "../canary-deps.ts";
import type { Canary } from "../canary.ts";
import { spewHash } from "../revision/spew-hash.ts";
import { numberAt, objectAt, objectsAt, textAt } from "./fields.ts";
import type { WorkloadStep } from "./pod-kind.ts";
import { type NamedKind, stepObjects, within } from "./step-objects.ts";
import type { Readiness, Workload } from "./workload.ts";

const group = { group: "serving.knative.dev", version: "v1" };
const serviceKind: NamedKind = { ...group, kind: "Service", plural: "services", noun: "Knative Service" };
const revisionKind: NamedKind = { ...group, kind: "Revision", plural: "revisions", noun: "Knative Revision" };

/** On the Service: which of its revisions is the primary, which serves production. */
export const primaryAnnotation = "flagger.app/primary-revision";

/** A target of kind Service of Knative: canary and primary are two of its revisions, and Knative scales both. */
export function knativeTarget(canary: Canary, deps: StepDeps): Workload {
  const step = { canary, deps, objects: stepObjects(canary.namespace, deps) };
  const nothing = async (): Promise<void> => {};
  return {
    metadata: async () => ({ label: "", labelValue: "", ports: new Map() }),
    ensurePrimary: () => ensurePrimary(step),
    primaryReadiness: () => primaryReadiness(step),
    canaryReadiness: async () => await readiness(latestRevision(await serviceOf(step)), step),
    revision: async () => {
      const spec = spewHash(`(string)${latestRevision(await serviceOf(step))}`);
      return { spec, configs: canary.status.trackedConfigs ?? {} };
    },
    isPromoted: async () => {
      const service = await serviceOf(step);
      return service.metadata.annotations?.[primaryAnnotation] === latestRevision(service);
    },
    promote: () => promote(step),
    scaleToZero: nothing,
    scaleFromZero: nothing,
    finalize: nothing,
  };
}

async function serviceOf({ canary, objects }: WorkloadStep): Promise<LiveObject> {
  return await objects.read(serviceKind, canary.spec.targetRef.name);
}

function latestRevision(service: LiveObject): string {
  return textAt(objectAt(service, "status"), "latestCreatedRevisionName");
}

/** Until the Canary is initialized, the latest revision is the primary and gets all requests. */
async function ensurePrimary(step: WorkloadStep): Promise<void> {
  const { phase = "Initializing" } = step.canary.status;
  if (phase !== "Initializing") return;
  const service = await serviceOf(step);
  const revision = await step.objects.read(revisionKind, latestRevision(service));
  const { name } = revision.metadata;
  const traffic = [
    { latestRevision: true, percent: 0 },
    { revisionName: name, percent: 100 },
  ];
  const isRouted = equal(objectsAt(objectAt(service, "spec"), "traffic").map(shareOf), traffic.map(shareOf));
  await write(service, { name, change: isRouted ? {} : { spec: { traffic } } }, step);
}

async function promote(step: WorkloadStep): Promise<void> {
  const service = await serviceOf(step);
  await write(service, { name: latestRevision(service), change: {} }, step);
}

/** Writes the name of the primary together with the changed routes, unless nothing has changed. */
async function write(
  service: LiveObject,
  { name, change }: { readonly name: string; readonly change: JsonObject },
  { canary, objects }: WorkloadStep,
): Promise<void> {
  const isNamed = service.metadata.annotations?.[primaryAnnotation] === name;
  if (isNamed && Object.keys(change).length === 0) return;
  const patch = { metadata: { annotations: { [primaryAnnotation]: name } }, ...change };
  const text = `Knative Service ${service.metadata.name}.${canary.namespace} update query error`;
  // Flagger has no colon there.
  await within(text, objects.merge(serviceKind, service.metadata.name, patch), " ");
}

/** A share of the requests, without the fields that Knative fills in. */
function shareOf(target: JsonObject): JsonObject {
  const isLatest = target["latestRevision"] === true;
  return { isLatest, name: textAt(target, "revisionName"), percent: numberAt(target, "percent") ?? 0 };
}

async function primaryReadiness(step: WorkloadStep): Promise<Readiness> {
  const { metadata } = await serviceOf(step);
  const revision = metadata.annotations?.[primaryAnnotation];
  if (revision !== undefined) return await readiness(revision, step);
  const message = `Knative Service ${metadata.name}.${step.canary.namespace} primary revision annotation not found`;
  return { isReady: false, message, isRetriable: true };
}

async function readiness(name: string, { canary, objects }: WorkloadStep): Promise<Readiness> {
  const revision = await objects.read(revisionKind, name);
  const status = objectAt(revision, "status");
  const isObserved = numberAt(status, "observedGeneration") === revision.metadata.generation;
  const ready = objectsAt(status, "conditions").find((condition) => textAt(condition, "type") === "Ready");
  if (isObserved && ready?.["status"] === "True") return { isReady: true };
  const message = `Knative Revision ${name}.${canary.namespace} is not ready`;
  return { isReady: false, message, isRetriable: true };
}
