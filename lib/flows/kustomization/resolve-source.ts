import type { Artifact } from "../../api/artifact.ts";
import type { KustomizationSpec } from "../../api/kustomization-spec.ts";
import { sourceGroup } from "../../api/names.ts";
import { parseOciRepository } from "../../api/oci-repository.ts";
import { Digest } from "../../core/digest.ts";
import { subject } from "../../core/object-ref.ts";
import { outageOf, storeOutage } from "../../core/outage.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { KustomizationDeps } from "./deps.ts";
import type { Blocked } from "./outcome.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Flux's `--requeue-dependency`: how long to wait for a source or dependency that no event announces. */
export const requeueDependencyMs = 30_000;

/** The source of a Kustomization, ready to be fetched. */
export interface ResolvedSource {
  readonly kind: "resolved";
  readonly key: WorkKey;
  /** `OCIRepository/namespace/name`. */
  readonly name: string;
  readonly uid: string;
  readonly artifact: Artifact;
  readonly revision: string;
  readonly originRevision: string | undefined;
}

/** The key of the source that a Kustomization of this namespace names. */
export function sourceKey({ sourceRef }: KustomizationSpec, ownNamespace: string, cluster: string): WorkKey {
  const { kind, name, namespace = ownNamespace } = sourceRef;
  return { cluster, group: sourceGroup, kind, namespace, name };
}

/**
 * Why a Kustomization of this namespace may not use the source that it names, or undefined where it may (reference 3.2, 6.4).
 * The namespaces of its dependencies do not matter.
 */
export function sourceRefusal(
  { sourceRef: { kind, name, namespace } }: KustomizationSpec,
  ownNamespace: string,
  { noCrossNamespaceRefs }: Pick<KustomizationDeps, "noCrossNamespaceRefs">,
): string | undefined {
  if (!noCrossNamespaceRefs || namespace === undefined || namespace === ownNamespace) return undefined;
  return `can't access '${kind}/${namespace}/${name}', cross-namespace references have been blocked`;
}

/**
 * Looks the source up. The source's own Ready condition does not count: an old artifact of a failing source is still
 * applied (reference 3.2).
 */
export async function resolveSource(of: SubjectOfRun): Promise<ResolvedSource | Blocked> {
  const key = sourceKey(of.kustomization.spec, of.namespace, of.run.key.cluster);
  const live = await of.cluster.get({ ...key, version: "v1" }, of.run.signal).catch((error: unknown) => {
    throw outageOf(error, "ArtifactFailed", `unable to get source '${key.namespace}/${key.name}'`);
  });
  if (live === undefined) {
    // The kind where the API server would say the plural: Flux reads sources from its cache, which says it so.
    const message = `${key.kind}.${sourceGroup} "${key.name}" not found`;
    return { kind: "blocked", reason: "ArtifactFailed", message, retry: "interval" };
  }
  const { artifact } = parseOciRepository(live).status;
  if (artifact === undefined || live.metadata.deletionTimestamp !== undefined) {
    const message = "Source artifact not found, retrying in 30s";
    return { kind: "blocked", reason: "ArtifactFailed", message, retry: "dependency" };
  }
  return {
    kind: "resolved",
    key,
    name: subject(key),
    uid: live.metadata.uid,
    artifact,
    revision: artifact.revision,
    originRevision: artifact.metadata?.["org.opencontainers.image.revision"],
  };
}

/**
 * The artifact's digest, where the source's own flow recorded it. Nothing else is ever fetched, so that whoever can write a
 * status cannot choose what is applied.
 */
export async function recordedArtifact(source: ResolvedSource, of: SubjectOfRun): Promise<Digest | undefined> {
  const digest = Digest.safeParse(source.artifact.digest);
  if (!digest.success) return undefined;
  const isRecorded = await of.deps.records.recorded(source.key, source.uid, digest.data, of.run.signal);
  return isRecorded ? digest.data : undefined;
}

/** The artifact's bytes, verified; undefined where the store has lost it. */
export async function fetchArtifact(digest: Digest, { deps, run }: SubjectOfRun): Promise<Uint8Array | undefined> {
  return deps.artifacts
    .get(digest, run.signal)
    .catch(storeOutage("ArtifactFailed", "failed to download archive", run.signal));
}

/** Asks the source to bring what is missing. */
export async function askForArtifact(source: ResolvedSource, { deps, run }: SubjectOfRun): Promise<Blocked> {
  await deps.requests.request(source.key, `artifact of ${source.revision} is missing`, run.signal);
  const message = "Source is not ready, artifact not found, retrying in 30s";
  return { kind: "blocked", reason: "ArtifactFailed", message, retry: "dependency" };
}
