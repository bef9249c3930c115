import { type Condition, Conditions, findCondition, isTrue } from "../api/condition.ts";
import { kustomizeGroup } from "../api/names.ts";
import { isJsonObject } from "../core/json.ts";
import { type LiveObject, type Manifest, refOf } from "../core/manifest.ts";
import { subject, type VersionedRef } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import { type Configuration, configurationLabel, configurationManifests, deletionPolicyOf } from "./configuration.ts";

const manager = "sluice";
/** The CloudFormation resource that wrote an object, so that the removal of a replaced resource does not remove its successor's objects. */
const resourceAnnotation = "sluice/installed-by";
const pollMs = 3_000;

type ConfigurationCluster = Pick<Cluster, "get" | "list" | "apply" | "create" | "patch" | "delete">;

/** A Secret of the cluster as it has to be: a login to a registry. */
export interface WantedSecret {
  readonly name: string;
  /** A secret itself. */
  readonly dockerConfigJson: string;
}

/**
 * Writes the objects of a configuration, and removes Kustomizations that it no longer has. Can be repeated.
 *
 * @throws Error if an object there belongs to another writer; nothing is written then
 */
export async function applyConfiguration(
  cluster: ConfigurationCluster,
  configuration: Configuration,
  { resource, secrets }: { readonly resource: string; readonly secrets: readonly WantedSecret[] },
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, onDelete } = configuration;
  const manifests = [
    ...secrets.map((secret) => secretManifest(secret, configuration)),
    ...configurationManifests(configuration),
  ];
  for (const manifest of manifests) {
    const live = await cluster.get(refOf(manifest), signal);
    if (live === undefined || live.metadata.labels?.[configurationLabel] === name) continue;
    throw new Error(
      `${subject(refOf(manifest))} is there already and is not of the configuration ${name}: delete it, or give the configuration another name`,
    );
  }
  await makeNamespace(cluster, namespace, signal);
  for (const { metadata, ...manifest } of manifests) {
    const annotated = { ...manifest, metadata: { ...metadata, annotations: { [resourceAnnotation]: resource } } };
    await cluster.apply(annotated, { manager, force: true }, signal);
  }
  const wanted = new Set(manifests.map(({ metadata }) => metadata.name));
  for (const live of await kustomizationsOf(cluster, configuration, signal)) {
    if (!wanted.has(live.metadata.name)) await removeKustomization(cluster, live, onDelete, signal);
  }
}

/**
 * Removes the objects of a configuration, if this resource wrote them: Kustomizations first, since they need their source until they are
 * gone. The deployed objects stay unless `onDelete` is `delete`. The namespace stays.
 */
export async function removeConfiguration(
  cluster: ConfigurationCluster,
  configuration: Configuration,
  { resource, clock }: { readonly resource: string; readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const isOwn = ({ metadata }: LiveObject) => metadata.annotations?.[resourceAnnotation] === resource;
  for (;;) {
    const left = (await kustomizationsOf(cluster, configuration, signal)).filter(isOwn);
    if (left.length === 0) break;
    for (const live of left.filter(({ metadata }) => metadata.deletionTimestamp === undefined)) {
      await removeKustomization(cluster, live, configuration.onDelete, signal);
    }
    await clock.sleep(pollMs, signal);
  }
  const others = [
    ...configurationManifests(configuration).filter(({ kind }) => kind !== "Kustomization"),
    ...configuration.secrets.map(({ name }) => secretManifest({ name, dockerConfigJson: "{}" }, configuration)),
  ];
  for (const manifest of others) {
    const live = await cluster.get(refOf(manifest), signal);
    if (live === undefined || !isOwn(live)) continue;
    await cluster.delete(refOf(live), { uid: live.metadata.uid, propagation: "Background" }, signal);
  }
}

/** Writes a copy of a login again, if it is one of the configuration's: a Secret that is gone stays gone. Answers whether it was. */
export async function refreshSecret(
  cluster: Pick<Cluster, "get" | "apply">,
  secret: WantedSecret,
  configuration: Pick<Configuration, "name" | "namespace">,
  signal: AbortSignal,
): Promise<boolean> {
  const { metadata, ...manifest } = secretManifest(secret, configuration);
  const live = await cluster.get(refOf({ ...manifest, metadata }), signal);
  if (live?.metadata.labels?.[configurationLabel] !== configuration.name) return false;
  // Also what its own resource wrote: the next apply would lose it otherwise.
  const { [resourceAnnotation]: resource = "" } = live.metadata.annotations ?? {};
  const annotated = { ...manifest, metadata: { ...metadata, annotations: { [resourceAnnotation]: resource } } };
  const { object } = await cluster.apply(annotated, { manager, force: true }, signal);
  return object.metadata.resourceVersion !== live.metadata.resourceVersion;
}

/** How an object of a configuration is doing. */
export interface ObjectState {
  /** `Kustomization/apps/shop-web`. */
  readonly object: string;
  readonly ready: "True" | "False" | "Unknown";
  /** It will not become ready until it is changed. */
  readonly isStalled: boolean;
  /** `BuildFailed: kustomization path not found`; empty if nothing looked after it yet. */
  readonly why: string;
}

/** The state of the source and each Kustomization. A status for an earlier generation does not count. */
export async function configurationState(
  cluster: Pick<Cluster, "get">,
  configuration: Configuration,
  signal: AbortSignal,
): Promise<readonly ObjectState[]> {
  const states: ObjectState[] = [];
  for (const manifest of configurationManifests(configuration)) {
    states.push(stateOf(manifest, await cluster.get(refOf(manifest), signal)));
  }
  return states;
}

function stateOf(manifest: Manifest, live: LiveObject | undefined): ObjectState {
  const object = subject(refOf(manifest));
  const conditions = conditionsOf(live);
  const ready = findCondition(conditions, "Ready");
  if (ready === undefined) return { object, ready: "Unknown", isStalled: false, why: "" };
  const why = `${ready.reason}: ${ready.message}`;
  return { object, ready: ready.status, isStalled: isTrue(conditions, "Stalled"), why };
}

function conditionsOf(live: LiveObject | undefined): readonly Condition[] {
  const status = live?.["status"];
  if (live === undefined || !isJsonObject(status)) return [];
  const { success, data } = Conditions.safeParse(status["conditions"]);
  const { generation } = live.metadata;
  return success ? data.filter(({ observedGeneration = 0 }) => observedGeneration === generation) : [];
}

async function kustomizationsOf(
  cluster: Pick<Cluster, "list">,
  { name, namespace }: Configuration,
  signal: AbortSignal,
): Promise<readonly LiveObject[]> {
  const labelSelector = `${configurationLabel}=${name}`;
  return cluster.list(
    { group: kustomizeGroup, version: "v1", kind: "Kustomization", namespace, labelSelector },
    signal,
  );
}

async function makeNamespace(cluster: Pick<Cluster, "create">, name: string, signal: AbortSignal): Promise<void> {
  try {
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, { manager }, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  }
}

/** Its present settings decide whether the deployed objects stay, not those under which it was written. */
async function removeKustomization(
  cluster: Pick<Cluster, "patch" | "delete">,
  live: LiveObject,
  onDelete: Configuration["onDelete"],
  signal: AbortSignal,
): Promise<void> {
  const ref: VersionedRef = refOf(live);
  const { uid } = live.metadata;
  const body = { metadata: { uid }, spec: { deletionPolicy: deletionPolicyOf(onDelete) } };
  await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
  await cluster.delete(ref, { uid, propagation: "Background" }, signal);
}

function secretManifest(
  { dockerConfigJson, name }: WantedSecret,
  { name: configuration, namespace }: Pick<Configuration, "name" | "namespace">,
): Manifest {
  const labels = { "app.kubernetes.io/managed-by": "sluice", [configurationLabel]: configuration };
  const data = { ".dockerconfigjson": Buffer.from(dockerConfigJson).toString("base64") };
  const type = "kubernetes.io/dockerconfigjson";
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, labels }, type, data };
}
