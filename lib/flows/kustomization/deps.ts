import type { Digest } from "../../core/digest.ts";
import type { Manifest } from "../../core/manifest.ts";
import type { History } from "../../core/ports/history.ts";
import type { InventoryStore } from "../../core/ports/inventory-store.ts";
import type { Ledger } from "../../core/ports/ledger.ts";
import type { Secret } from "../../core/secret.ts";
import type { BuildInput } from "../../manifests/build-input.ts";
import type { FlowDeps } from "../flow-deps.ts";

/** What the reconcile of a Kustomization needs of the world. */
export interface KustomizationDeps extends FlowDeps {
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly history: History;
  /** The key of the digests in inventories, and of those in a status that would let a secret be guessed. */
  readonly installationKey: Secret;
  /** Requests to the API server at the same time within one run. */
  readonly concurrency: number;
  /** Flux's flag of this name: a source of another namespace than the Kustomization's is refused. */
  readonly noCrossNamespaceRefs: boolean;
  /**
   * Builds the manifests of an artifact; undefined where the artifact is not there. Throws a `Failure` with reason
   * `BuildFailed` or `ArtifactFailed`.
   */
  readonly build: (input: BuildInput, signal: AbortSignal) => Promise<BuiltManifests | undefined>;
}

export interface BuiltManifests {
  /** With owner labels and common metadata, in the order of the build. */
  readonly manifests: readonly Manifest[];
  /** Over the built text, as Flux's history has it. */
  readonly digest: Digest;
  /** Whether data of a Secret may be in that text, so that its digest is not to be shown. */
  readonly carriesSecret: boolean;
}
