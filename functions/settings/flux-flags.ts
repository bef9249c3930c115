const noImpersonation = "Sluice does not impersonate service accounts yet, everything is applied with its own rights";
const noDecryption = "spec.decryption is not supported yet, a Kustomization that has it is stalled";
const noKubeConfig = "spec.kubeConfig is not supported yet, a Kustomization that has it is stalled";
const noHelm = "Sluice does not reconcile Helm's kinds yet";
const noGit = "Sluice does not reconcile GitRepository and image automation yet";
const noNotification = "Sluice has no notification controller yet";
const noController = "Sluice has no controller process that it could be a setting of";
const noFileServer = "Sluice keeps artifacts in its own store and serves them to no client";

/** Flags of Flux's controllers that Sluice does not honour, each with the reason as a part of a sentence. */
export const unhonouredFlags: ReadonlyMap<string, string> = new Map([
  ["artifact-digest-algo", "artifacts are named by their SHA-256"],
  ["artifact-retention-records", noFileServer],
  ["artifact-retention-ttl", noFileServer],
  ["concurrent", "sluice local runs 8 objects at the same time, in AWS the event source of the queue has the number"],
  ["custom-apply-stage-kinds", "the stages of an apply are fixed"],
  ["default-decryption-service-account", noDecryption],
  ["default-kubeconfig-service-account", noKubeConfig],
  ["default-service-account", noImpersonation],
  ["enable-leader-election", "a lease for each object takes its place"],
  ["events-addr", noNotification],
  ["export-http-path-metrics", noNotification],
  ["feature-gates", "Sluice has none of Flux's feature gates"],
  ["gc-interval", noGit],
  ["graceful-shutdown-timeout", noHelm],
  ["health-addr", noController],
  ["helm-cache-max-size", noHelm],
  ["helm-cache-purge-interval", noHelm],
  ["helm-cache-ttl", noHelm],
  ["helm-chart-file-max-size", noHelm],
  ["helm-chart-max-size", noHelm],
  ["helm-index-max-size", noHelm],
  ["http-retry", "artifacts are read from Sluice's own store"],
  ["http-timeout", noHelm],
  ["insecure-kubeconfig-exec", noKubeConfig],
  ["insecure-kubeconfig-tls", noKubeConfig],
  ["interval-jitter-percentage", "intervals are always spread by 5 %"],
  ["kube-api-burst", "concurrent-ssa is what limits the requests of a run"],
  ["kube-api-qps", "concurrent-ssa is what limits the requests of a run"],
  ["log-encoding", "logs are lines of JSON"],
  ["log-level", "a function has it as SLUICE_LOG_LEVEL, sluice local has --verbose"],
  ["max-retry-delay", "retries wait from 750 ms to 15 minutes, doubling"],
  ["metrics-addr", noController],
  ["min-retry-delay", "retries wait from 750 ms to 15 minutes, doubling"],
  ["no-remote-bases", "remote bases are always refused"],
  ["override-manager", "the field managers that an apply takes over are fixed"],
  ["rate-limit-interval", noNotification],
  ["receiverAddr", noNotification],
  [
    "requeue-dependency",
    "a source or dependency that turns ready wakes what waits for it, and a look every 30 s comes beside it",
  ],
  ["snapshot-digest-algo", noHelm],
  ["sops-age-secret", noDecryption],
  ["sops-vault-configmap", noDecryption],
  ["ssh-hostkey-algos", noGit],
  ["ssh-kex-algos", noGit],
  ["storage-addr", noFileServer],
  ["storage-adv-addr", noFileServer],
  ["storage-compression-threshold", noGit],
  ["storage-path", noFileServer],
  ["storage-value-log-file-size", noGit],
  ["token-cache-max-duration", "tokens are kept for 80 % of their life, an hour at most"],
  ["token-cache-max-size", "tokens are kept for 80 % of their life, an hour at most"],
  ["watch-all-namespaces", "Sluice looks after all namespaces"],
  ["watch-configs-label-selector", "Sluice does not watch ConfigMaps and Secrets"],
  ["watch-label-selector", "Sluice looks after all objects of its kinds"],
]);
