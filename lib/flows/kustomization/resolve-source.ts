import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import type { KustomizationSpec } from "../../api/kustomization-spec.ts";
import { sourceGroup } from "../../api/names.ts";
import type { Artifact } from "../../api/source.ts";
import { formatDuration } from "../../core/duration.ts";
import { subject } from "../../core/object-ref.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { readSource } from "../source/read-source.ts";
import type { Blocked, KustomizationContext, KustomizationDeps } from "./context.ts";

/** The annotation of an artifact with the revision that it was made from. */
export const originRevisionKey = "org.opencontainers.image.revision";

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
  { sourceRef: { kind, name, ...ref } }: KustomizationSpec,
  ownNamespace: string,
  { gates, noCrossNamespaceRefs }: Pick<KustomizationDeps, "gates" | "noCrossNamespaceRefs">,
): string | undefined {
  const { namespace = ownNamespace } = ref;
  const refused = `can't access '${kind}/${namespace}/${name}'`;
  if (noCrossNamespaceRefs && namespace !== ownNamespace) {
    return `${refused}, cross-namespace references have been blocked`;
  }
  const isClosed = kind === declaredExternalArtifact.kind && !gates.ExternalArtifact;
  return isClosed ? `${refused}, ExternalArtifact feature gate is disabled` : undefined;
}

/**
 * Looks the source up. The source's own Ready condition does not count: an old artifact of a failing source is still
 * applied (reference 3.2).
 */
export async function resolveSource(ctx: KustomizationContext): Promise<ResolvedSource | Blocked> {
  const key = sourceKey(ctx.kustomization.spec, ctx.namespace, ctx.run.key.cluster);
  const reader = { home: ctx.home, sources: ctx.deps.sources };
  const source = await readSource(key, reader, ctx.run.signal).catch((error: unknown) => {
    throw outageOf(error, "ArtifactFailed", `unable to get source '${key.namespace}/${key.name}'`);
  });
  if (source === undefined) {
    // The kind where the API server would say the plural: Flux reads sources from its cache, which says it so.
    const message = `${key.kind}.${sourceGroup} "${key.name}" not found`;
    return { kind: "blocked", reason: "ArtifactFailed", message, retry: "interval", isMissing: true };
  }
  const { artifact, uid } = source;
  if (artifact === undefined) {
    const message = `Source artifact not found, retrying in ${requeueText(ctx)}`;
    return { kind: "blocked", reason: "ArtifactFailed", message, retry: "dependency" };
  }
  return {
    kind: "resolved",
    key,
    name: subject(key),
    uid,
    artifact,
    revision: artifact.revision,
    originRevision: artifact.metadata?.[originRevisionKey],
  };
}

/** The artifact is missing. If a source is reconciled here, its run is requested, which pulls the artifact again. */
export async function askForArtifact(source: ResolvedSource, ctx: KustomizationContext): Promise<Blocked> {
  const { deps, run } = ctx;
  if (source.key.kind !== declaredExternalArtifact.kind) {
    await deps.requests.request(source.key, `artifact of ${source.revision} is missing`, run.signal);
  }
  const message = `Source is not ready, artifact not found, retrying in ${requeueText(ctx)}`;
  return { kind: "blocked", reason: "ArtifactFailed", message, retry: "dependency" };
}

/** How long until an object that waits for another one looks again, as Flux's messages have it. */
export function requeueText({ deps }: Pick<KustomizationContext, "deps">): string {
  return formatDuration(deps.timing.requeueDependencyMs);
}
