import type { ArtifactRecords } from "../../core/ports/artifact-records.ts";
import type { ArtifactStore } from "../../core/ports/artifact-store.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import type { Edges } from "../../core/ports/edges.ts";
import type { Http } from "../../core/ports/http.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Metrics } from "../../core/ports/metrics.ts";
import type { ReconcileRequests } from "../../core/ports/reconcile-requests.ts";
import type { RegistryLogin } from "../../core/ports/registry-login.ts";
import type { ArchiveLimits } from "../../sources/archive/unpack.ts";

/** What the reconcile of an OCIRepository needs of the world. */
export interface OciRepositoryDeps {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly edges: Edges;
  readonly requests: ReconcileRequests;
  readonly artifacts: ArtifactStore;
  readonly records: ArtifactRecords;
  readonly http: Http;
  /** The clouds whose identity can log in to registries; a `spec.provider` that is none of them is refused. */
  readonly logins?: { readonly aws?: RegistryLogin };
  /** The address under which `status.artifact.path` is served, or would be: consumers of ours go by the digest. */
  readonly artifactUrl: (path: string) => string;
  /** A number from 0 to 1 that spreads the intervals of many objects; `Math.random` outside tests. */
  readonly jitter: () => number;
  /** Of what is unpacked; {@link defaultArchiveLimits} where absent. */
  readonly limits?: ArchiveLimits;
}
