import type {
  ChartMetadata,
  ObservedRelease,
  PostRender,
  ReleaseRecord,
  ValuesToCompose,
} from "../../../core/ports/helm-engine.ts";
import type { HealthRules } from "../../../health/health-rules.ts";
import type { ReleaseValues } from "../../../helm/read-values.ts";
import type { ReleaseNames } from "../../../helm/release-names.ts";
import type { ReleaseStore } from "../../../helm/release-store.ts";
import type { HelmReleaseContext } from "./context.ts";

/** The chart of a release, as its source has it. */
export interface ReleaseChart {
  /** The packaged chart. */
  readonly bytes: (signal: AbortSignal) => Promise<Uint8Array>;
  /** `+` and the first 12 hexadecimal digits of {@link ociDigest}; empty if there is none. */
  readonly versionSuffix: string;
  /** The digest in the revision of an OCIRepository or ExternalArtifact; empty for other sources. */
  readonly ociDigest: string;
  /** With the suffix. */
  readonly metadata: ChartMetadata;
}

/** Everything that decides the wanted release. Preconditions are met; nothing is written yet. */
export interface ReleaseAttempt {
  /** Its target is open. */
  readonly ctx: HelmReleaseContext;
  readonly names: ReleaseNames;
  readonly chart: ReleaseChart;
  readonly values: ValuesToCompose;
  /** The entries of `spec.valuesFrom` that gave `values.from`, in their order. */
  readonly references: ReleaseValues["references"];
  readonly configDigest: string;
  readonly postRender: PostRender;
  /** As in the status: empty if the spec has none. */
  readonly postRenderersDigest: string;
  readonly commonMetadataDigest: string;
  readonly healthRules: HealthRules;
  /** The release store of the storage namespace. */
  readonly store: ReleaseStore;
  /** Reads a record with the digest of an artifact, for the snapshot in question. */
  observe(record: ReleaseRecord, ociDigest: string): Promise<ObservedRelease>;
  /** A digest of the wanted release: a different one ends an action under way. */
  readonly token: string;
}
