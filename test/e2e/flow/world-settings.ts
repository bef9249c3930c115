import { usualRules } from "../../../lib/apply/set/apply-rules.ts";
import { defaultGates, type FeatureGates } from "../../../lib/core/feature-gates.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { RemoteClusters } from "../../../lib/core/ports/remote-clusters.ts";
import { defaultTiming, type RunTiming } from "../../../lib/flows/interval.ts";
import type { KustomizationDeps } from "../../../lib/flows/kustomization/context.ts";
import { type ObjectCache, objectCache } from "../../../lib/flows/kustomization/object-cache.ts";
import { noKeyServices } from "../../doubles/no-key-services.ts";
import { noRemoteClusters } from "../../doubles/no-remote-clusters.ts";
import type { Fault } from "./faulty-port.ts";

/** What a story may change of a world at any time: the installation's settings, and what fails. It counts for the runs from then on. */
export interface WorldSettings {
  /** Called before and after every port call and before a build; throw to make it fail. Port calls wait for it. */
  fault: Fault;
  noCrossNamespaceRefs: boolean;
  explainHealthFailures: boolean;
  /** The account that a Kustomization without one applies as. */
  defaultServiceAccount: string;
  /** The account that enters the cluster of a ConfigMap without one. */
  defaultKubeconfigAccount: string;
  /** Where keys of encrypted manifests come from, beside Secrets. */
  sopsKeys: KustomizationDeps["sopsKeys"];
  gates: FeatureGates;
  /** When runs without an event are. */
  timing: RunTiming;
  /** How objects are applied. */
  applyRules: KustomizationDeps["applyRules"];
  sopsIgnoreMac: boolean;
  /** Whether links in artifacts of files are skipped. */
  skipLinks: boolean;
  /** The clusters that Kustomizations name. */
  remoteClusters: RemoteClusters;
  /** Where objects are applied; undefined for the cluster that the Kustomizations live in. */
  target: Cluster | undefined;
  /** What the process has cached: another process has another. */
  objects: ObjectCache;
}

/** As an installation has them by default, without faults. */
export function usualSettings(): WorldSettings {
  return {
    fault: () => {},
    noCrossNamespaceRefs: false,
    explainHealthFailures: true,
    defaultServiceAccount: "",
    defaultKubeconfigAccount: "",
    sopsKeys: noKeyServices,
    gates: defaultGates,
    timing: defaultTiming,
    applyRules: usualRules,
    sopsIgnoreMac: false,
    skipLinks: false,
    remoteClusters: noRemoteClusters,
    target: undefined,
    objects: objectCache(),
  };
}
