import type { ImagePolicySpec } from "../../api/image-policy.ts";
import { ImageRepositorySpec } from "../../api/image-repository.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { declaredImageRepository } from "../../api/kinds/image-repository.ts";
import { parseLive } from "../../api/parse-live.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { isOutage } from "../../core/ports/outage.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { ImageReferenceFault, parseImageRepository } from "../../image/image-reference.ts";
import type { PolicyContext, ReferredRepository } from "./policy-context.ts";

const prefix = "failed to get the referred ImageRepository: ";

export function repositoryKey(
  { imageRepositoryRef: { name, namespace } }: ImagePolicySpec,
  { namespace: own, run }: Pick<PolicyContext, "namespace" | "run">,
): WorkKey {
  const { group, kind } = declaredImageRepository;
  return { cluster: run.key.cluster, group, kind, namespace: namespace ?? own, name };
}

/**
 * The repository of a policy, if the policy may read its tags.
 *
 * @throws Failure `AccessDenied`, `DependencyNotReady` or `Failure` in Flux's words; all of them are tried again, since nothing announces
 * a change of a namespace's labels
 */
export async function referredRepository(key: WorkKey, ctx: PolicyContext): Promise<ReferredRepository> {
  const { deps, home, namespace, run } = ctx;
  const refusal = elsewhereRefusal(key, namespace, deps);
  if (refusal !== undefined) throw new Failure("AccessDenied", refusal, { retry: "backoff", waitsFor: key });
  const live = await home
    .get({ ...key, ...servedKind(declaredImageRepository) }, run.signal)
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || isOutage(error)) throw error;
      throw unreachable("Failure", messageOf(error), key, error);
    });
  if (live === undefined) {
    const { group, kind, name } = key;
    throw unreachable(
      "DependencyNotReady",
      `referenced ${kind} does not exist: ${kind}.${group} "${name}" not found`,
      key,
    );
  }
  const spec = specOf(live, key);
  await checkAccess(spec.accessFrom, key, ctx);
  return { key, live, spec };
}

/** Why a policy of this namespace may not read the ImageRepository that it names; undefined if it may. Pure. */
export function elsewhereRefusal(
  key: Pick<WorkKey, "kind" | "name" | "namespace">,
  ownNamespace: string,
  { noCrossNamespaceRefs }: Pick<PolicyContext["deps"], "noCrossNamespaceRefs">,
): string | undefined {
  if (!noCrossNamespaceRefs || key.namespace === ownNamespace) return undefined;
  return `${prefix}cannot access '${subject(key)}', cross-namespace references have been blocked`;
}

function specOf(live: ReferredRepository["live"], key: WorkKey): ImageRepositorySpec {
  try {
    return parseLive(live, "spec", ImageRepositorySpec);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw unreachable("Failure", error.message, key, error);
  }
}

async function checkAccess(
  access: ImageRepositorySpec["accessFrom"],
  key: WorkKey,
  { home, namespace, run }: PolicyContext,
): Promise<void> {
  if (key.namespace === namespace) return;
  const refused = (why: string) =>
    denied(`access denied: '${key.namespace}/${key.name}' can't be accessed due to ${why}`, key);
  if (access === undefined) throw refused("missing ACL labels on 'accessFrom'");
  const own = await home.get(
    { group: "", version: "v1", kind: "Namespace", name: namespace, namespace: "" },
    run.signal,
  );
  const labels = own?.metadata.labels ?? {};
  const isAdmitted = access.namespaceSelectors.some(({ matchLabels = {} }) =>
    Object.entries(matchLabels).every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value),
  );
  if (!isAdmitted) throw refused(`ACL labels mismatch on namespace '${namespace}'`);
}

/** Throws a {@link Failure} if no tag of the repository can be chosen until its spec changes; it wakes the policy then. */
export function checkRepository({ spec }: ReferredRepository): void {
  try {
    parseImageRepository(spec.image);
  } catch (error) {
    if (!(error instanceof ImageReferenceFault)) throw error;
    throw new Failure("ImageURLInvalid", error.message, { cause: error });
  }
  const { provider, serviceAccountName = "" } = spec;
  if (provider === "generic" || serviceAccountName === "") return;
  // It names a cloud identity: ours in its place would grant more than was asked for.
  const message =
    "to use spec.serviceAccountName in the ImageRepository for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller";
  throw new Failure("FeatureGateDisabled", message);
}

function denied(why: string, key: WorkKey): Failure {
  return unreachable("AccessDenied", why, key);
}

function unreachable(
  reason: "AccessDenied" | "DependencyNotReady" | "Failure",
  why: string,
  waitsFor: WorkKey,
  cause?: unknown,
): Failure {
  return new Failure(reason, `${prefix}${why}`, {
    retry: "backoff",
    waitsFor,
    cause,
  });
}
