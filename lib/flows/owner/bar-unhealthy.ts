import { ImagePolicyStatus } from "../../api/image-policy.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { barredAnnotation, barUnhealthyAnnotation } from "../../api/names.ts";
import { messageOf } from "../../core/failure.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { HomeCluster, TargetCluster } from "../../core/ports/home-and-target.ts";
import { repeatOnConflict } from "../../core/ports/repeat-on-conflict.ts";
import { type BlamedImage, blamedImages } from "../../health/blamed-images.ts";
import type { ObservedHealth } from "../../health/check-health.ts";
import { addLine, type BarredImage, barredName, isBarredBy, parseBarred } from "../../image/barred/barred-images.ts";

/** The object whose health check has failed. */
interface UnhealthyOwner {
  readonly namespace: string;
  /** As the reason names it: `Kustomization/apps/podinfo`. */
  readonly subject: string;
}

interface BarringClusters {
  readonly home: HomeCluster;
  readonly target: TargetCluster;
  /** The field manager of the owner's kind. */
  readonly manager: string;
}

/**
 * Bars the images that make these objects unhealthy. It writes to the ImagePolicies of the owner's namespace that have the annotation
 * `sluice.dev/bar-unhealthy`. Each policy then chooses its next image. If a policy cannot be written, the answer names it, and the next
 * failed health check tries again.
 *
 * @returns a line for each policy and image, the same when it is found barred already
 */
export async function barUnhealthy(
  unhealthy: readonly ObservedHealth[],
  owner: UnhealthyOwner,
  clusters: BarringClusters,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const policies = await askingPolicies(owner.namespace, clusters.home, signal);
  if (policies.length === 0) return [];
  const lines: string[] = [];
  for (const image of await blamedImages(unhealthy, clusters.target, signal)) {
    for (const policy of policies) {
      const { latestRef } = ImagePolicyStatus.safeParse(policy["status"] ?? {}).data ?? {};
      if (latestRef?.name === image.name) lines.push(await bar(policy, image, owner, clusters, signal));
    }
  }
  return lines;
}

async function askingPolicies(
  namespace: string,
  home: HomeCluster,
  signal: AbortSignal,
): Promise<readonly LiveObject[]> {
  const found = await home
    .list({ ...servedKind(declaredImagePolicy), namespace }, signal)
    .catch((error: unknown): readonly LiveObject[] => {
      if (isAnswer(error)) return [];
      throw error;
    });
  return found.filter(asks);
}

function asks({ metadata: { annotations, deletionTimestamp } }: LiveObject): boolean {
  return annotations?.[barUnhealthyAnnotation] === "true" && deletionTimestamp === undefined;
}

/** Codes of an API server that has not decided about the request: the credential is stale, or it is too busy. */
const undecided = new Set([401, 408, 429]);

/** Whether the API server has decided: it refuses, does not know the kind or object, or the object has changed. All else is an outage. */
function isAnswer(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code >= 400 && error.code < 500 && !undecided.has(error.code);
}

async function bar(
  policy: LiveObject,
  { digest, tag, why }: BlamedImage,
  owner: UnhealthyOwner,
  clusters: BarringClusters,
  signal: AbortSignal,
): Promise<string> {
  const image = { tag, digest, why: `${owner.subject}: ${why}` };
  const name = subject(refOf(policy));
  try {
    const refusal = await writeLine(policy, image, clusters, signal);
    if (refusal !== undefined) return `${name} does not bar ${barredName(image)}: ${refusal}`;
    return `${name} bars ${barredName(image)}: ${why}`;
  } catch (error) {
    if (error instanceof RangeError || isAnswer(error))
      return `${name} does not bar ${barredName(image)}: ${messageOf(error)}`;
    throw error;
  }
}

/** Under a precondition on what was read: a user, or the run of another Kustomization, may bar an image at the same time. Answers why not. */
async function writeLine(
  policy: LiveObject,
  image: BarredImage,
  { home, manager }: BarringClusters,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ref = refOf(policy);
  return repeatOnConflict(async (tries) => {
    const present = tries === 1 ? policy : await home.get(ref, signal);
    if (present === undefined || !asks(present))
      return `it no longer has the annotation ${barUnhealthyAnnotation}: "true"`;
    const annotation = present.metadata.annotations?.[barredAnnotation] ?? "";
    if (parseBarred(annotation).some((one) => isBarredBy(one, image))) return undefined;
    const applier = applierOf(present);
    if (applier !== undefined)
      return `${applier} applies its annotation ${barredAnnotation}; remove that from the manifest`;
    const annotations = { [barredAnnotation]: addLine(annotation, image) };
    const { resourceVersion = "" } = present.metadata;
    await home.patch(ref, { type: "merge", body: { metadata: { resourceVersion, annotations } } }, { manager }, signal);
    return undefined;
  });
}

/** Who applies the annotation with the barred images: the next apply would remove what is added here. */
function applierOf({ metadata: { managedFields = [] } }: LiveObject): string | undefined {
  const field = JSON.stringify(`f:${barredAnnotation}`);
  return managedFields.find(
    ({ fieldsV1, operation }) => operation === "Apply" && JSON.stringify(fieldsV1 ?? {}).includes(field),
  )?.manager;
}
