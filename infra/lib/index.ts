export { type AddClusterProps, type ClusterRights, SluiceCluster, type SluiceClusterProps } from "./cluster.ts";
export {
  type ConfigurationKustomization,
  type OciSource,
  SluiceConfiguration,
  type SluiceConfigurationProps,
} from "./configuration.ts";
export type { SluiceNetwork } from "./functions.ts";
export { type SluiceBudget, SluiceObservability, type SluiceObservabilityProps } from "./observability.ts";
export { sluiceOutputs } from "./outputs.ts";
export { SluicePushForwarding, type SluicePushForwardingProps } from "./pushes.ts";
export { pullActions, SluiceRepository, type SluiceRepositoryProps } from "./repository.ts";
export type { PushOrigin, ServedCluster, ServiceFunction, SluiceService } from "./service.ts";
export { Sluice, type SluiceProps } from "./sluice.ts";
