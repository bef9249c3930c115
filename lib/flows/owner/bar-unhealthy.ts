import { ImagePolicyStatus } from "../../api/image-policy.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { barredAnnotation, barUnhealthyAnnotation } from "../../api/names.ts";
import { messageOf } from "../../core/failure.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { HomeCluster, TargetCluster } from "../../core/ports/home-and-target.ts";
import { isOutage } from "../../core/ports/outage.ts";
import { type BlamedImage, blamedImages } from "../../health/blamed-images.ts";
import type { ObservedHealth } from "../../health/check-health.ts";
import { barredName, formatBarred, isBarredBy, parseBarred, withBarred } from "../../image/barred/barred-images.ts";

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
 * Bars the images that are why these objects are not healthy, in the ImagePolicies of the owner's namespace that ask for it: whoever may
 * create the owner there may edit them there. The policies see their changed annotation, and choose the next image. Nothing depends on
 * it: a policy that cannot be written is named, and the next failed health check tries again.
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
      if (error instanceof ApiError && !isOutage(error)) return [];
      throw error;
    });
  return found.filter(
    ({ metadata }) =>
      metadata.annotations?.[barUnhealthyAnnotation] === "true" && metadata.deletionTimestamp === undefined,
  );
}

async function bar(
  policy: LiveObject,
  { digest, tag, why }: BlamedImage,
  owner: UnhealthyOwner,
  { home, manager }: BarringClusters,
  signal: AbortSignal,
): Promise<string> {
  const image = { tag, digest, why: `${owner.subject}: ${why}` };
  const name = subject(refOf(policy));
  const refused = (mend: string): string => `${name} does not bar ${barredName(image)}: ${mend}`;
  try {
    const barred = parseBarred(policy.metadata.annotations?.[barredAnnotation] ?? "");
    if (!barred.some((one) => isBarredBy(one, image))) {
      const applier = applierOf(policy);
      if (applier !== undefined) {
        return refused(`${applier} applies its annotation ${barredAnnotation}; remove that from the manifest`);
      }
      const text = formatBarred(withBarred(barred, image));
      parseBarred(text);
      const { resourceVersion = "" } = policy.metadata;
      const body = { metadata: { resourceVersion, annotations: { [barredAnnotation]: text } } };
      await home.patch(refOf(policy), { type: "merge", body }, { manager }, signal);
    }
    return `${name} bars ${barredName(image)}: ${why}`;
  } catch (error) {
    if (error instanceof RangeError || (error instanceof ApiError && !isOutage(error)))
      return refused(messageOf(error));
    throw error;
  }
}

/** Who applies the annotation with the barred images: the next apply would remove what is added here. */
function applierOf({ metadata: { managedFields = [] } }: LiveObject): string | undefined {
  const field = JSON.stringify(`f:${barredAnnotation}`);
  return managedFields.find(
    ({ fieldsV1, operation }) => operation === "Apply" && JSON.stringify(fieldsV1 ?? {}).includes(field),
  )?.manager;
}
