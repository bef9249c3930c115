import { mapLimit } from "../core/concurrency.ts";
import { equal } from "../core/json.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { TargetCluster } from "../core/ports/home-and-target.ts";
import type { ObservedHealth } from "./check-health.ts";
import { lastConfigChange } from "./config-changes.ts";
import { BlamedPod, type PodTemplate, Workload, withoutImageOf } from "./pod-parts.ts";

/** An image that is the only reason known why a Deployment is not healthy. */
export interface BlamedImage {
  /** Without tag and digest: `registry.example.com/podinfo`. */
  readonly name: string;
  readonly tag: string;
  /** As the Pod template or the node has it. */
  readonly digest: string;
  /** What has happened, for people: exit codes, no output of a container. */
  readonly why: string;
}

/** If more objects are unhealthy, they probably share a cause, such as a node, and no image is blamed. */
export const maxBlamedObjects = 10;

/** A container that has ended so often fails by itself: a single end may be the node's. */
const minRestarts = 2;

/**
 * The images that these unhealthy objects fail by; empty if only one of the objects may have another cause. An image is blamed where all
 * of this holds:
 *
 * - the object is a Deployment, and every Pod of its present template fails: a container with the image has ended with an error, and again
 *   after a restart, while all others run;
 * - a Pod of an earlier template is Ready beside them, and that template differs in nothing but the image of this container, which is of
 *   the same repository;
 * - the ConfigMaps and Secrets that the template names have not changed since that Pod started.
 *
 * What may not be read counts as another cause.
 */
export async function blamedImages(
  unhealthy: readonly ObservedHealth[],
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<readonly BlamedImage[]> {
  if (unhealthy.length > maxBlamedObjects) return [];
  try {
    const blamed = await mapLimit(unhealthy, 3, (one, stop) => blame(one, cluster, stop), signal);
    const known = blamed.filter((image) => image !== undefined);
    return known.length === blamed.length ? known : [];
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
}

async function blame(
  { ref, object }: ObservedHealth,
  cluster: TargetCluster,
  signal: AbortSignal,
): Promise<BlamedImage | undefined> {
  if (ref.group !== "apps" || ref.kind !== "Deployment" || object === undefined) return undefined;
  const deployment = Workload.safeParse(object).data;
  const labelSelector = Object.entries(deployment?.spec.selector?.matchLabels ?? {})
    .map(([label, value]) => `${label}=${value}`)
    .join(",");
  if (deployment === undefined || labelSelector === "") return undefined;
  const { namespace = "", uid } = object.metadata;
  const within = { version: "v1", namespace, labelSelector } as const;
  const sets = (await cluster.list({ ...within, group: "apps", kind: "ReplicaSet" }, signal)).filter(ownedBy(uid));
  const pods = await cluster.list({ ...within, group: "", kind: "Pod" }, signal);
  const podsOf = ({ metadata }: LiveObject) =>
    pods.filter(ownedBy(metadata.uid)).map((pod) => BlamedPod.safeParse(pod).data);
  const present = sets.find((set) => revisionOf(set) === revisionOf(object));
  const failing = present === undefined ? undefined : failingContainer(podsOf(present));
  const image = deployment.spec.template.spec.containers.find(({ name }) => name === failing?.name)?.image;
  const blamed = parseImage(image ?? "");
  if (present === undefined || failing === undefined || blamed === undefined) return undefined;
  const wanted = templateOf(present);
  for (const set of sets) {
    const former = set === present ? undefined : differsOnlyIn(failing.name, templateOf(set), wanted);
    if (former === undefined || parseImage(former)?.name !== blamed.name) continue;
    const readySince = latest(
      podsOf(set).flatMap((pod) => (pod !== undefined && isReady(pod) ? (pod.status.startTime ?? []) : [])),
    );
    const changed =
      readySince === undefined ? undefined : await lastConfigChange(deployment, namespace, cluster, signal);
    if (readySince === undefined || changed === undefined || changed >= readySince) continue;
    const digest = blamed.digest ?? failing.digest;
    if (digest === undefined) return undefined;
    const why = `${subject(refOf(object))}: container ${failing.name} ${failing.end}, and Pods with ${parseImage(former)?.tag} are Ready`;
    return { name: blamed.name, tag: blamed.tag, digest, why };
  }
  return undefined;
}

function ownedBy(uid: string) {
  return ({ metadata }: LiveObject): boolean =>
    metadata.deletionTimestamp === undefined && metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

function revisionOf({ metadata }: LiveObject): string {
  return metadata.annotations?.["deployment.kubernetes.io/revision"] ?? "";
}

function templateOf(set: LiveObject): PodTemplate | undefined {
  return Workload.safeParse(set).data?.spec.template;
}

/** The image of a container in the former template, if the two differ in it and in nothing else. */
function differsOnlyIn(
  container: string,
  former: PodTemplate | undefined,
  present: PodTemplate | undefined,
): string | undefined {
  if (former === undefined || present === undefined) return undefined;
  const [before, now] = [former, present].map((template) => withoutImageOf(container, template));
  if (before === undefined || now === undefined || before.image === now.image) return undefined;
  return equal(before.rest, now.rest) ? before.image : undefined;
}

interface FailingContainer {
  readonly name: string;
  readonly digest: string | undefined;
  readonly end: string;
}

/** The container by which every one of the Pods fails; undefined if one is Ready, or fails in another way, or if there are none. */
function failingContainer(pods: readonly (BlamedPod | undefined)[]): FailingContainer | undefined {
  const failing = pods.map(failingIn);
  const [first] = failing;
  return failing.every((one) => one !== undefined && one.name === first?.name) ? first : undefined;
}

function failingIn(pod: BlamedPod | undefined): FailingContainer | undefined {
  // With a reason, the node has ended the Pod: it was evicted, or the node is shut down.
  if (pod === undefined || isReady(pod) || (pod.status.reason ?? "") !== "") return undefined;
  const statuses = pod.status.containerStatuses ?? [];
  const failed = statuses.flatMap((status) => {
    const end = status.state?.terminated ?? status.lastState?.terminated;
    const isAgain = status.restartCount >= minRestarts;
    if (end === undefined || end.exitCode === 0 || !isAgain || status.ready) return [];
    const said = /^[A-Za-z]{1,64}$/.test(end.reason ?? "") ? ` (${end.reason})` : "";
    return [
      { name: status.name, digest: digestOf(status.imageID), end: `ended with exit code ${end.exitCode}${said}` },
    ];
  });
  const [only, ...more] = failed;
  if (only === undefined || more.length > 0) return undefined;
  // A container that has not started may be what the failing one waits for.
  const allRun = statuses.every(
    ({ name, ready, state }) => name === only.name || ready || state?.running !== undefined,
  );
  return allRun ? only : undefined;
}

function isReady({ status }: BlamedPod): boolean {
  return status.conditions?.some((one) => one.type === "Ready" && one.status === "True") === true;
}

function latest(times: readonly string[]): number | undefined {
  const known = times.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

function digestOf(image: string): string | undefined {
  return /@(sha256:[0-9a-f]{64})$/.exec(image)?.[1];
}

/** The parts of `name:tag` or `name:tag@digest`; undefined without a tag. */
function parseImage(image: string): { name: string; tag: string; digest: string | undefined } | undefined {
  const [, name, tag] = /^([^@]+):([A-Za-z0-9_][A-Za-z0-9._-]{0,127})(?:@sha256:[0-9a-f]{64})?$/.exec(image) ?? [];
  return name === undefined || tag === undefined ? undefined : { name, tag, digest: digestOf(image) };
}
