import { isTrue } from "../../api/condition.ts";
import { type Kustomization, readKustomization, unsupportedKustomizationFields } from "../../api/kustomization.ts";
import { kustomizeGroup } from "../../api/names.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import type { Expected, OwnerState } from "../../apply/set/apply-set.ts";
import { Failure } from "../../core/failure.ts";
import { type LiveObject, type Manifest, refOf } from "../../core/manifest.ts";
import { type ObjectRef, subject } from "../../core/object-ref.ts";
import type { Claim } from "../../core/ports/ledger.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { buildInput } from "../../manifests/build/build-input.ts";
import { stateOfOwner } from "../owner/owner-state.ts";
import { sharingTarget } from "../owner/sharing-target.ts";
import { type FetchableArtifact, fetchableArtifact } from "../source/read-source.ts";
import type { KustomizationContext } from "./context.ts";
import { decryptionOf, decryptionRefusal } from "./decryption.ts";
import { loadPostBuild } from "./post-build.ts";
import { type ResolvedSource, sourceKey, sourceRefusal } from "./resolve-source.ts";

/**
 * The state of the owner that made a claim. A claim is void if no owner has its uid, or if the owner is being deleted with all its
 * objects: otherwise two that are deleted together would each leave shared objects to the other.
 */
export async function ownerStateOf(
  claim: Pick<Claim, "owner" | "ownerUid">,
  { home, homeUid, owner: { clusterUid } }: Pick<KustomizationContext, "home" | "homeUid" | "owner">,
  signal: AbortSignal,
): Promise<OwnerState> {
  return stateOfOwner(claim, { home, homeUid, targetUid: clusterUid }, signal);
}

/** How the claims of a Kustomization name it: with its home cluster where that is not the cluster of the objects. */
export function claimNameOf({ name, namespace, homeUid, owner }: KustomizationContext): string {
  const ref = `Kustomization/${namespace}/${name}`;
  return homeUid === owner.clusterUid ? ref : `${ref}/${homeUid}`;
}

/**
 * The objects near ours that other Kustomizations of the same source are about to have, found by building their folders: for those
 * that have not reached this revision yet, or have failed at it. Their claims do not show these objects yet, so a prune that reads
 * only claims would delete objects that the same push has moved to them (ADR 0009).
 *
 * If a folder does not build, nothing is known about its Kustomization.
 */
export async function expectedBySiblings(
  kustomizations: readonly LiveObject[],
  isNear: (ref: ObjectRef) => boolean,
  source: ResolvedSource,
  ctx: KustomizationContext,
): Promise<readonly Expected[]> {
  const behind = siblingsBehind(kustomizations, source, ctx);
  // An owner whose cluster refuses it is not about to have any objects.
  const shared = await sharingTarget([...behind.keys()], false, ctx);
  const siblings = [...behind].flatMap(([live, sibling]) => (shared.has(live) ? [sibling] : []));
  if (siblings.length === 0) return [];
  const artifact = await fetchableArtifact(source, ctx);
  if (artifact === undefined) return [];
  const expected: Expected[] = [];
  // One after the other: a folder's build may be large, and only its names are kept.
  for (const sibling of siblings) {
    const owner = subject(refOfSibling(sibling));
    for (const manifest of await manifestsOf(sibling, artifact, ctx)) {
      const ref = refOf(manifest);
      // Whether its kind is namespaced is unknown here: a cluster-scoped object is named without a namespace, whatever the manifest
      // says.
      const names = ref.namespace === "" ? [ref] : [ref, { ...ref, namespace: "" }];
      expected.push(...names.filter(isNear).map((near) => ({ ref: near, owner })));
    }
  }
  return expected;
}

/**
 * The other Kustomizations of this source that may use it, are not being deleted and have not applied this revision. Suspended ones
 * are among them: a user who suspends a failing Kustomization during a move must keep the object.
 */
function siblingsBehind(
  all: readonly LiveObject[],
  source: ResolvedSource,
  { deps, owner, run }: KustomizationContext,
): ReadonlyMap<LiveObject, Kustomization> {
  const isBehind = (sibling: Kustomization): boolean => {
    const { metadata, spec } = sibling;
    const { namespace = "" } = metadata;
    return (
      formatWorkKey(sourceKey(spec, namespace, run.key.cluster)) === formatWorkKey(source.key) &&
      sourceRefusal(spec, namespace, deps) === undefined &&
      referenceFaults(spec).length === 0 &&
      unsupportedKustomizationFields(spec, deps.sources).length === 0 &&
      decryptionRefusal(spec, deps) === undefined &&
      !hasApplied(sibling, source.revision)
    );
  };
  const siblings = all
    .filter(({ metadata: { uid, deletionTimestamp } }) => uid !== owner.uid && deletionTimestamp === undefined)
    .flatMap((live) => {
      const sibling = readKustomization(live);
      return sibling !== undefined && isBehind(sibling) ? [[live, sibling] as const] : [];
    });
  return new Map(siblings);
}

function hasApplied({ metadata, status }: Kustomization, revision: string): boolean {
  return (
    status.lastAppliedRevision === revision &&
    status.observedGeneration === metadata.generation &&
    isTrue(status.conditions ?? [], "Ready")
  );
}

async function manifestsOf(
  sibling: Kustomization,
  artifact: FetchableArtifact,
  ctx: KustomizationContext,
): Promise<readonly Manifest[]> {
  const { home, run } = ctx;
  const postBuild = await loadPostBuild(sibling, { home, gates: ctx.deps.gates }, run.signal);
  const decryption = decryptionOf(sibling, ctx, { namesOnly: true });
  const input = buildInput(sibling, artifact.digest, artifact.bytes, { postBuild, decryption, tenant: run.key });
  try {
    const built = await ctx.deps.build(input, ctx.run.signal);
    return built?.manifests ?? [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    ctx.deps.log.info("another Kustomization of the source does not build, so its objects are unknown", {
      ...ctx.run.key,
      other: subject(refOfSibling(sibling)),
    });
    return [];
  }
}

function refOfSibling({ metadata: { name, namespace = "" } }: Kustomization): ObjectRef {
  return { group: kustomizeGroup, kind: "Kustomization", namespace, name };
}
