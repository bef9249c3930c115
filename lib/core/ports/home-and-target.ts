import type { Cluster } from "./cluster.ts";

/**
 * The cluster in which the reconciled objects live. Their status, finalizers and events, their sources, dependencies and secrets,
 * and the other owners are always read and written here, with the installation's own rights.
 */
export interface HomeCluster extends Cluster {
  readonly role: "home";
}

/**
 * The cluster that an object applies to, with the rights in the object. Discovery, lists, dry runs, applies, prunes and health checks go
 * here. It is the home cluster, unless the object names another one.
 *
 * The two have different types, so that a mix-up does not compile: an owner that is looked up in the target would count as gone, and its
 * objects would be deleted.
 */
export interface TargetCluster extends Cluster {
  readonly role: "target";
}

export function asHome(cluster: Cluster): HomeCluster {
  return { ...cluster, role: "home" };
}

export function asTarget(cluster: Cluster): TargetCluster {
  return { ...cluster, role: "target" };
}
