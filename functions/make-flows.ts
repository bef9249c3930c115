import { kindOf } from "../lib/api/kinds/declaration.ts";
import type { Flow } from "../lib/core/ports/run.ts";
import type { WorkKey } from "../lib/core/work-key.ts";
import type { FlowParts, Kind } from "../lib/flows/kinds/kind.ts";
import { reportOutage, retryOutages, stateErrorsAsOutages } from "../lib/flows/kinds/outages.ts";
import { measured } from "../lib/flows/measured.ts";
import { sourcesAmong } from "../lib/flows/source/read-source.ts";
import type { Clusters, ServedCluster } from "../lib/gate/served-clusters.ts";

/** The flow of an object's kind; undefined for a kind that is not among those of the installation. */
export type Flows = (key: WorkKey) => Flow | undefined;

/** The flow of each of these kinds for the objects of one cluster, on the adapters of an installation. */
export function makeFlows(kinds: readonly Kind[], parts: Omit<FlowParts, "jitter" | "reconciled" | "sources">): Flows {
  const { home, clock, log } = parts;
  const common = {
    ...parts,
    ...stateErrorsAsOutages(parts),
    jitter: Math.random,
    reconciled: kinds,
    sources: sourcesAmong(kinds),
  };
  const flows = kinds.map(({ group, kind, flow }) => {
    const patient = retryOutages(flow(common), {
      ...{ clock, log, timing: parts.timing },
      report: (run, failure, wasReported) => reportOutage(run, failure, wasReported, { home, clock, kinds }),
    });
    return { group, kind, flow: measured(patient, parts) };
  });
  return (key) => kindOf(key, flows)?.flow;
}

/** {@link Flows} for the objects of the clusters that are served, made once for each; those of others are not reconciled here. */
export function flowsOfClusters(clusters: Pick<Clusters, "get">, flowsOf: (cluster: ServedCluster) => Flows): Flows {
  const made = new Map<string, Flows>();
  return (key) => {
    const cluster = clusters.get(key.cluster);
    if (cluster === undefined) return undefined;
    const flows = made.get(cluster.id) ?? flowsOf(cluster);
    made.set(cluster.id, flows);
    return flows(key);
  };
}
