import type { Condition } from "../../api/condition.ts";
import type { KindDeclaration } from "../../api/kinds/declaration.ts";
import type { CanaryHttp } from "../../canary/canary-http.ts";
import type { MetricServers } from "../../canary/metric-servers.ts";
import type { CanarySettings } from "../../canary/settings.ts";
import type { Cel } from "../../cel/cel.ts";
import type { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { BucketLogin } from "../../core/ports/bucket-login.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import type { Engine } from "../../core/ports/engine.ts";
import type { GitLogin } from "../../core/ports/git-login.ts";
import type { HelmEngine } from "../../core/ports/helm-engine.ts";
import type { TargetCluster } from "../../core/ports/home-and-target.ts";
import type { Outbound } from "../../core/ports/http.ts";
import type { ImageTags } from "../../core/ports/image-tags.ts";
import type { MessageEngine } from "../../core/ports/message-engine.ts";
import type { RemoteClusters } from "../../core/ports/remote-clusters.ts";
import type { Flow } from "../../core/ports/run.ts";
import type { SshAlgorithms } from "../../sources/git/ssh-transport.ts";
import type { HelmRepositoryDeps } from "../helm-repository/helm-repository-flow.ts";
import type { KustomizationDeps } from "../kustomization/context.ts";
import type { OciRepositoryDeps } from "../oci-repository/oci-repository-flow.ts";
import type { ReceiverDeps } from "../receiver/receiver-context.ts";
import type { SourceReader } from "../source/read-source.ts";

/** The parts of an installation: the flow of each kind takes those that it needs. */
export interface FlowParts
  extends Omit<KustomizationDeps, "build" | "cel" | "objects" | "remoteTargetOf" | "targetOf">,
    Pick<OciRepositoryDeps, "artifactUrl" | "logins">,
    Pick<HelmRepositoryDeps, "helmIndexMaxBytes">,
    Pick<ReceiverDeps, "receivers" | "reconciled"> {
  readonly cel: Cel;
  /** The tags of ImageRepositories. */
  readonly imageTags: ImageTags;
  readonly http: Outbound;
  /** How Canaries reach servers of metrics, webhooks and the like. */
  readonly canaryHttp: CanaryHttp;
  /** The servers of metrics that Canaries do not reach by it. */
  readonly metricServers: MetricServers;
  /** The clouds with an identity that can log in to git repositories. */
  readonly gitLogins?: { readonly aws?: GitLogin };
  /** The clouds with an identity that can log in to buckets. */
  readonly bucketLogins?: { readonly aws?: BucketLogin };
  readonly engine: Engine;
  /** Told of each run of an Alert, so that the next event of the cluster looks at the Alerts again. */
  readonly alertsChanged?: (cluster: string) => void;
  /** Loaded with the first HelmRelease, or the first commit message that is a template. */
  readonly helm: HelmEngine & MessageEngine;
  /** The algorithms that ssh offers to git hosts; if unset, they are those of Go's client. */
  readonly sshAlgorithms: SshAlgorithms;
  /** Whether links in archives are left out, as in Flux, in place of being followed. */
  readonly skipLinks: boolean;
  /** The home cluster with the rights of another user; each write passes the gate. */
  readonly targetAs: (user: string) => TargetCluster;
  /** Another cluster; each write to it passes the home's gate. */
  readonly gated: (cluster: Cluster) => TargetCluster;
  /** Clusters that objects name. */
  readonly remoteClusters: RemoteClusters;
  /** Flux's flag `default-kubeconfig-service-account`; empty if unset. */
  readonly defaultKubeconfigAccount: string;
  /** Flagger's flags. */
  readonly canarySettings: CanarySettings;
}

/** A kind that Sluice reconciles: its declaration and its runs. */
export interface Kind extends KindDeclaration {
  readonly flow: (parts: FlowParts) => Flow;
  /** The conditions of an object whose run failed for a reason outside its flow, and is tried again. */
  readonly failing: (
    before: readonly Condition[],
    failure: Failure,
    now: { readonly generation: number; readonly at: number },
  ) => readonly Condition[];
  /**
   * A run's inputs apart from identity, spec, requested time and deletion of its object: a short text without secrets; null if there
   * are none now. Absent for a kind without further inputs.
   */
  readonly input?: (live: LiveObject, reader: SourceReader, signal: AbortSignal) => Promise<string | null>;
}

/**
 * A flow whose modules are loaded with the first run of its kind, not at the start of a function: the first run after a cold start
 * may be of another kind.
 */
export function loadedOnce(load: () => Promise<Flow>): Flow {
  let flow: Promise<Flow> | undefined;
  return async (run) => {
    flow ??= load();
    return (await flow)(run);
  };
}
