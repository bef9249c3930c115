import type { ArtifactGeneratorStatus, GeneratedArtifact } from "../../api/artifact-generator.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import type { Http } from "../../core/ports/http.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { FlowDeps } from "../flow-deps.ts";
import type { RunContext } from "../run-context.ts";
import type { SourceKinds } from "../source/read-source.ts";

/** The outside services of the reconcile of an ArtifactGenerator. */
export interface ArtifactGeneratorDeps extends FlowDeps {
  /** The address under which the path of an artifact is served, or would be: consumers of ours go by the digest. */
  readonly artifactUrl: (path: string) => string;
  /** For sources that other controllers write and serve. */
  readonly http: Pick<Http, "send">;
  /** The kinds that may be sources. */
  readonly sources: SourceKinds;
  /** Flux's flag of this name: sources of other namespaces than the object's are refused. */
  readonly noCrossNamespaceRefs: boolean;
  /** Whether links in sources are left out, as in Flux, in place of being followed. */
  readonly skipLinks?: boolean;
}

/** The ArtifactGenerator of one run. */
export type GeneratorContext = RunContext<ArtifactGeneratorStatus, ArtifactGeneratorDeps>;

/** The key of an ExternalArtifact in the namespace of the generator, the only namespace that it writes to. */
export function artifactKey(name: string, { namespace, run }: Pick<GeneratorContext, "namespace" | "run">): WorkKey {
  const { group, kind } = declaredExternalArtifact;
  return { cluster: run.key.cluster, group, kind, namespace, name };
}

/** Whether an inventory has this artifact. */
export function isListed(
  { digest, name, namespace }: Pick<GeneratedArtifact, "digest" | "name" | "namespace">,
  { inventory = [] }: ArtifactGeneratorStatus,
): boolean {
  return inventory.some((entry) => entry.name === name && entry.namespace === namespace && entry.digest === digest);
}
