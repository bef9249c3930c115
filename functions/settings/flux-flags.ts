const noIndexCache = "an index is read again only if it has changed";
const fixedChart = "a chart may be as large as Flux allows by default";
const noDatabase = "the tags of images are kept in Sluice's own state, not in a database on a disk";
const noController = "Sluice has no controller process";
const concurrency =
  "sluice local runs 8 objects of a cluster at the same time; in AWS the event source of the queue sets the number";
const limitedRuns = "concurrent-ssa limits the requests of a run";
const jsonLogs = "logs are lines of JSON";
const ownLeases = "a lease for each object takes its place";
const noFileServer = "Sluice keeps artifacts in its own store and serves them to no client";

/** Flags of Flagger that Flux does not have and Sluice does not honour, each with the reason as a part of a sentence. */
const flaggerFlags: ReadonlyMap<string, string> = new Map([
  [
    "control-loop-interval",
    "a Canary runs when it or its target is changed, and then at each interval of its analysis",
  ],
  ["kubeconfig-burst", limitedRuns],
  ["kubeconfig-qps", limitedRuns],
  ["kubeconfig-service-mesh", "routes are written to the cluster of the Canary"],
  ["leader-election-namespace", ownLeases],
  ["namespace", "an installation reconciles the Canaries of all namespaces of a cluster"],
  ["port", noController],
  ["threadiness", concurrency],
  ["zap-encoding", jsonLogs],
  ["zap-replace-globals", jsonLogs],
]);

/** Flags of Flux's controllers and of Flagger that Sluice does not honour, each with the reason as a part of a sentence. */
export const unhonouredFlags: ReadonlyMap<string, string> = new Map([
  ...flaggerFlags,
  ["artifact-digest-algo", "artifacts are named by their SHA-256"],
  ["artifact-retention-records", noFileServer],
  ["artifact-retention-ttl", noFileServer],
  ["concurrent", concurrency],
  ["enable-leader-election", ownLeases],
  ["events-addr", "Alerts send the events of Sluice's own flows, which need no address"],
  ["export-http-path-metrics", noController],
  ["gc-interval", noDatabase],
  ["graceful-shutdown-timeout", "no action of a release waits in a process"],
  ["health-addr", noController],
  ["helm-cache-max-size", noIndexCache],
  ["helm-cache-purge-interval", noIndexCache],
  ["helm-cache-ttl", noIndexCache],
  ["helm-chart-file-max-size", fixedChart],
  ["helm-chart-max-size", fixedChart],
  ["http-retry", "artifacts are read from Sluice's own store, and a download that fails is tried again with back-off"],
  ["http-timeout", "artifacts are read from Sluice's own store"],
  ["insecure-allow-http", "the setting network says which hosts may be reached"],
  ["insecure-kubeconfig-exec", "Sluice runs no program for a kubeconfig that a tenant may have written"],
  ["insecure-kubeconfig-tls", "the certificate of every cluster is verified"],
  ["kube-api-burst", limitedRuns],
  ["kube-api-qps", limitedRuns],
  ["leader-election-lease-duration", ownLeases],
  ["leader-election-release-on-cancel", ownLeases],
  ["leader-election-renew-deadline", ownLeases],
  ["leader-election-retry-period", ownLeases],
  ["log-encoding", jsonLogs],
  ["log-level", "functions have SLUICE_LOG_LEVEL, sluice local has --verbose"],
  ["metrics-addr", noController],
  ["oom-watch-current-memory-path", noController],
  ["oom-watch-interval", noController],
  ["oom-watch-max-memory-path", noController],
  ["oom-watch-memory-threshold", noController],
  ["rate-limit-interval", "equal events are sent once in five minutes, as in Flux by default"],
  ["receiverAddr", "sluice local has --receiver-port, and the function has an address of its own"],
  ["snapshot-digest-algo", "digests of releases are made with SHA-256"],
  ["storage-addr", noFileServer],
  ["storage-adv-addr", noFileServer],
  ["storage-compression-threshold", noDatabase],
  ["storage-path", noFileServer],
  ["storage-value-log-file-size", noDatabase],
  ["token-cache-max-duration", "tokens are cached for 80 % of their life, an hour at most"],
  ["token-cache-max-size", "tokens are cached for 80 % of their life, an hour at most"],
  ["watch-label-selector", "an installation reconciles all objects of a cluster, so they cannot be divided by label"],
]);

/** Whose flag it is, of those that Sluice does not honour. */
export function flagOwner(flag: string): "Flagger" | "Flux" {
  return flaggerFlags.has(flag) ? "Flagger" : "Flux";
}
