import { equal, type JsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import { mergePatch } from "../../core/merge-patch.ts";
import type { StepDeps } from "../canary-deps.ts";
import { type Canary, canaryText, primaryName } from "../canary.ts";
import { serviceSpecHash } from "../revision/template-hash.ts";
import { inItems, objectAt, only, without } from "./fields.ts";
import { included, kubectlAnnotation, withoutFlux } from "./metadata.ts";
import type { WorkloadStep } from "./pod-kind.ts";
import { type NamedKind, stepObjects, within } from "./step-objects.ts";
import { type Texts, controllerReference, refuseForeign, refuseFormer } from "../ownership.ts";
import type { TargetRevision, Workload } from "./workload.ts";

const kind: NamedKind = { group: "", version: "v1", kind: "Service", plural: "services", noun: "service" };

/** Addresses and node ports are one Service's own. Flagger copies some of them, so that no Service with an address can be a target. */
const ownFields = ["clusterIP", "clusterIPs", "healthCheckNodePort"];

/** A target of kind Service: it has two copies, one for the canary and one for the primary, and no pods of its own. */
export function serviceTarget(canary: Canary, deps: StepDeps): Workload {
  const step = { canary, deps, objects: stepObjects(canary.namespace, deps) };
  const nothing = async (): Promise<void> => {};
  return {
    metadata: async () => ({ label: "", labelValue: "", ports: new Map() }),
    ensurePrimary: () => ensureCopies(step),
    primaryReadiness: async () => ({ isReady: true }),
    canaryReadiness: async () => ({ isReady: true }),
    revision: () => revision(step),
    promote: () => {
      const primary = `service ${primaryName(canary.spec.targetRef.name)}.${canary.namespace}`;
      return within(`updating ${primary} spec failed`, promote(step));
    },
    scaleToZero: nothing,
    scaleFromZero: nothing,
    finalize: nothing,
  };
}

/** The copy for the canary follows the target; that for the primary is only made if it is missing. Neither is written if one is refused. */
async function ensureCopies(step: WorkloadStep): Promise<void> {
  const { canary, objects } = step;
  const target = canary.spec.targetRef.name;
  const own = await objects.read(kind, target);
  const followed = `${target}-canary`;
  const primary = primaryName(target);
  const live = await within("reconcileCanaryService failed", objects.find(kind, followed));
  if (live !== undefined) refuseOthers(live, canary);
  const known = await within("reconcilePrimaryService failed", objects.find(kind, primary));
  if (known !== undefined) refuseOtherPrimary(known, own, canary);
  await within("reconcileCanaryService failed", followTarget(own, followed, step));
  if (known !== undefined) return;
  await within("reconcilePrimaryService failed", createCopy(copyOf(own, primary, step), step));
}

function refuseOthers(copy: LiveObject, canary: Canary): void {
  refuseForeign(copy, canary, "give the Canary another target");
}

/** Flagger takes the owner from the primary's copy at the first promotion. Later the target may differ from the promoted Service. */
function refuseOtherPrimary(copy: LiveObject, own: LiveObject, canary: Canary): void {
  refuseFormer(copy, canary);
  const { ownerReferences = [] } = copy.metadata;
  const isPromoted = canary.status.lastPromotedSpec !== undefined || equal(routedOf(copy), routedOf(own));
  if (ownerReferences.length > 0 || !isPromoted) refuseOthers(copy, canary);
}

/** Where a Service leads. */
function routedOf(service: Manifest): JsonObject {
  return only(copiedSpec(service), ["selector", "ports", "externalName"]);
}

async function followTarget(own: LiveObject, name: string, step: WorkloadStep): Promise<void> {
  const { canary, objects } = step;
  const live = await objects.find(kind, name);
  const copy = copyOf(own, name, step);
  if (live === undefined) {
    await createCopy(copy, step);
    return;
  }
  const fields = ["labels", "annotations", "ownerReferences"];
  const patch = mergePatch(managedOf(live, fields), managedOf(copy, fields));
  if (patch === undefined) return;
  await within(`updating service ${name}.${canary.namespace} failed`, objects.merge(kind, name, patch));
}

async function createCopy(copy: Manifest, { canary, deps, objects }: WorkloadStep): Promise<void> {
  // Flagger names the Canary here, not the Service.
  await within(`creating service ${canaryText(canary)} query error`, objects.create(kind, copy));
  const object = `Service/${copy.metadata.name}`;
  deps.log.info("the copy of a Service is created", { canary: canaryText(canary), object });
}

/** Keeps the owner, so that the copy is deleted with the Canary; Flagger removes the owner here. */
async function promote(step: WorkloadStep): Promise<void> {
  const { canary, deps, objects } = step;
  const own = await objects.read(kind, canary.spec.targetRef.name);
  const name = primaryName(canary.spec.targetRef.name);
  const primary = await objects.read(kind, name);
  const prefixes = deps.settings.includeLabelPrefixes;
  const { labels = {}, annotations = {} } = own.metadata;
  const copy = copyOf(own, name, step);
  const metadata = {
    ...copy.metadata,
    labels: included(labels, prefixes),
    annotations: included(annotations, prefixes),
  };
  const fields = ["labels", "annotations"];
  const patch = mergePatch(managedOf(primary, fields), managedOf({ ...copy, metadata }, fields));
  if (patch !== undefined) await objects.merge(kind, name, patch);
}

/**
 * Undefined if the primary's copy is of an earlier Service than the target when the initialisation ends: a run then checks the new Service
 * first. Flagger takes it for promoted.
 */
async function revision(step: WorkloadStep): Promise<TargetRevision> {
  const { canary, objects } = step;
  const own = await objects.read(kind, canary.spec.targetRef.name);
  const { phase = "Initializing", trackedConfigs = {} } = canary.status;
  const spec = serviceSpecHash(objectAt(own, "spec"));
  if (phase !== "Initializing") return { spec, configs: trackedConfigs };
  const name = primaryName(canary.spec.targetRef.name);
  const primary = await objects.find(kind, name);
  const isOfTarget = primary === undefined || equal(copiedSpec(primary), copiedSpec(copyOf(own, name, step)));
  return { spec: isOfTarget ? spec : "", configs: trackedConfigs };
}

function copyOf(own: LiveObject, name: string, { canary }: WorkloadStep): Manifest {
  const { labels = {}, annotations = {} } = own.metadata;
  const { [kubectlAnnotation]: _, ...otherAnnotations }: Texts = annotations;
  const { trafficDistribution } = canary.spec.service;
  return {
    apiVersion: own.apiVersion,
    kind: own.kind,
    metadata: {
      name,
      namespace: canary.namespace,
      labels: withoutFlux(labels),
      annotations: withoutFlux(otherAnnotations),
      ownerReferences: [controllerReference(canary)],
    },
    spec: {
      ...copiedSpec(own),
      ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
    },
  };
}

/** A headless Service has a special address: its copies have none either. */
function copiedSpec(service: Manifest): JsonObject {
  const spec = objectAt(service, "spec");
  const shared = inItems(without(spec, ownFields), "ports", (port) => without(port, ["nodePort"]));
  return spec["clusterIP"] === "None" ? { ...shared, clusterIP: "None" } : shared;
}

/** The written fields of a copy, without those that the API server sets. */
function managedOf(service: Manifest, fields: readonly string[]): JsonObject {
  const metadata = objectAt(service, "metadata");
  return { metadata: { labels: {}, annotations: {}, ...only(metadata, fields) }, spec: copiedSpec(service) };
}
