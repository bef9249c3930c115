import type { TargetCluster } from "../../../core/ports/home-and-target.ts";

/** What templates can ask about the cluster. */
export interface Capabilities {
  readonly kubeVersion: string;
  /** Every group/version and every group/version/Kind, and `v1`. */
  readonly apiVersions: readonly string[];
}

/** The version if a server does not report it: the oldest with everything that Sluice needs. */
const oldestVersion = "v1.27.0";

/** The capabilities of a cluster, as Helm finds them by discovery. */
export async function capabilitiesOf(cluster: TargetCluster, signal: AbortSignal): Promise<Capabilities> {
  const [{ resources, otherVersions = [] }, version = ""] = await Promise.all([
    cluster.served(signal),
    cluster.version?.(signal),
  ]);
  const versions = new Set(["v1"]);
  for (const { group, kind, version } of [...resources, ...otherVersions]) {
    const groupVersion = group === "" ? version : `${group}/${version}`;
    versions.add(groupVersion);
    versions.add(`${groupVersion}/${kind}`);
  }
  return { kubeVersion: version === "" ? oldestVersion : version, apiVersions: [...versions] };
}
