import type { IndexedChart } from "../../sources/helm/chart-entry.ts";
import type { SignedArtifact } from "../../sources/oci/verify/signed-artifact.ts";

/** A repository of charts, over http or oci. Its methods throw a `RepositoryFault`. */
export interface ChartRepository {
  /** The version of a chart that `version` selects. */
  choose(name: string, version: string, signal: AbortSignal): Promise<IndexedChart>;
  /** The archive of a chosen version. */
  download(chart: IndexedChart, signal: AbortSignal): Promise<Uint8Array>;
  /** The manifest of a chosen version, which its signatures refer to; absent if charts cannot be signed. */
  signed?(chart: IndexedChart, signal: AbortSignal): Promise<SignedArtifact>;
}
