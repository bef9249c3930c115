import { isTrue } from "../../api/condition.ts";
import { type Kustomization, readKustomization } from "../../api/kustomization.ts";
import { kustomizeGroup } from "../../api/names.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import { unsupportedKustomizationFields } from "../../api/unsupported-fields.ts";
import type { Expected } from "../../apply/prune/facts.ts";
import type { Digest } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import { type LiveObject, type Manifest, refOf } from "../../core/manifest.ts";
import { type ObjectRef, subject } from "../../core/object-ref.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { buildInput } from "../../manifests/build-input.ts";
import { fetchArtifact, type ResolvedSource, recordedArtifact, sourceKey, sourceRefusal } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/**
 * What other Kustomizations of the same source are about to have of what is near: those that have not come to this revision
 * yet, or have failed at it, by what their folders build to. Their claims say nothing until then, so a prune that asks only those
 * would delete what the same push has moved to them (ADR 0009).
 *
 * Nothing is known of one whose folder does not build.
 */
export async function expectedBySiblings(
  kustomizations: readonly LiveObject[],
  isNear: (ref: ObjectRef) => boolean,
  source: ResolvedSource,
  of: SubjectOfRun,
): Promise<readonly Expected[]> {
  const siblings = siblingsBehind(kustomizations, source, of);
  if (siblings.length === 0) return [];
  const artifact = await recordedArtifact(source, of);
  if (artifact === undefined) return [];
  const expected: Expected[] = [];
  // One after the other: what a folder builds to may be large, and its names are all that is kept.
  for (const sibling of siblings) {
    const owner = subject(refOfSibling(sibling));
    for (const manifest of await manifestsOf(sibling, artifact, of)) {
      const ref = refOf(manifest);
      // Whether its kind has namespaces is not known here: what has none is named without, whatever the manifest says.
      const names = ref.namespace === "" ? [ref] : [ref, { ...ref, namespace: "" }];
      expected.push(...names.filter(isNear).map((near) => ({ ref: near, owner })));
    }
  }
  return expected;
}

/**
 * The others of this source that live, may use it and do not say that they have applied this revision. One that is suspended is
 * among them: who suspends what fails in the middle of a move must not lose the object.
 */
function siblingsBehind(
  all: readonly LiveObject[],
  source: ResolvedSource,
  { deps, owner, run }: SubjectOfRun,
): readonly Kustomization[] {
  return all
    .filter(({ metadata: { uid, deletionTimestamp } }) => uid !== owner.uid && deletionTimestamp === undefined)
    .flatMap((live) => readKustomization(live) ?? [])
    .filter(({ metadata: { namespace = "" }, spec }) => {
      const theirs = sourceKey(spec, namespace, run.key.cluster);
      return formatWorkKey(theirs) === formatWorkKey(source.key);
    })
    .filter(({ metadata: { namespace = "" }, spec }) => sourceRefusal(spec, namespace, deps) === undefined)
    .filter(({ spec }) => referenceFaults(spec).length === 0)
    .filter(({ spec }) => unsupportedKustomizationFields(spec).length === 0)
    .filter((sibling) => !hasApplied(sibling, source.revision));
}

function hasApplied({ metadata, status }: Kustomization, revision: string): boolean {
  return (
    status.lastAppliedRevision === revision &&
    status.observedGeneration === metadata.generation &&
    isTrue(status.conditions ?? [], "Ready")
  );
}

async function manifestsOf(sibling: Kustomization, artifact: Digest, of: SubjectOfRun): Promise<readonly Manifest[]> {
  const input = buildInput(sibling, artifact, () => fetchArtifact(artifact, of));
  try {
    const built = await of.deps.build(input, of.run.signal);
    return built?.manifests ?? [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    of.deps.log.info("what another Kustomization of the source wants is not known, for it does not build", {
      ...of.run.key,
      other: subject(refOfSibling(sibling)),
    });
    return [];
  }
}

function refOfSibling({ metadata: { name, namespace = "" } }: Kustomization): ObjectRef {
  return { group: kustomizeGroup, kind: "Kustomization", namespace, name };
}
