export type { ClusterRights } from "./access-entries.ts";
export { SluiceBucket, type SluiceBucketProps } from "./bucket.ts";
export { type AddClusterProps, SluiceCluster, type SluiceClusterProps } from "./cluster.ts";
export { SluiceClusterRoles, type SluiceClusterRolesProps } from "./cluster-roles.ts";
export { SluiceCodeCommitRepository, type SluiceCodeCommitRepositoryProps } from "./code-commit.ts";
export {
  type ConfigurationKustomization,
  type OciSource,
  SluiceConfiguration,
  type SluiceConfigurationProps,
} from "./configuration.ts";
export type { SluiceNetwork } from "./networks.ts";
export { type SluiceBudget, SluiceObservability, type SluiceObservabilityProps } from "./observability.ts";
export { sluiceOutputs } from "./outputs.ts";
export { SluicePushForwarding, type SluicePushForwardingProps } from "./pushes.ts";
export { pullActions, SluiceRepository, type SluiceRepositoryProps } from "./repository.ts";
export type { ClusterRoles, PushOrigin, ServedCluster, ServiceFunction, SluiceService } from "./service.ts";
export { type ReconcileSize, Sluice, type SluiceProps } from "./sluice.ts";
export type { MetricName } from "./sluice-metrics.ts";
