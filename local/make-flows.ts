import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Engine } from "../lib/core/ports/engine.ts";
import type { Http } from "../lib/core/ports/http.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import type { Flow } from "../lib/core/run.ts";
import { kustomizationFlow } from "../lib/flows/kustomization/kustomization-flow.ts";
import { ociRepositoryFlow } from "../lib/flows/oci-repository/oci-repository-flow.ts";
import { patiently } from "../lib/flows/patiently.ts";
import { kubectlEngine } from "../lib/kube/kubectl-engine.ts";
import { cachedBuild } from "../lib/manifests/cached-build.ts";
import { tolerantCluster } from "../lib/manifests/tolerant-cluster.ts";
import { layerKubectl } from "./layer.ts";
import type { Kind } from "./start-runtime.ts";
import type { Stores } from "./state/open-stores.ts";
import type { StateFolder } from "./state-folder.ts";

/** Requests to the API server at the same time within one run. */
const concurrency = 8;

export interface FlowParts {
  readonly state: Pick<StateFolder, "work" | "installationKey">;
  readonly stores: Stores;
  readonly cluster: Cluster;
  readonly http: Http;
  readonly clock: Clock;
  readonly log: Log;
}

/** The flows, on the adapters of this machine. */
export function makeFlows(parts: FlowParts, requests: ReconcileRequests): Readonly<Record<Kind, Flow>> {
  const { state, stores, cluster, http, clock, log } = parts;
  const { edges, artifacts, records, inventories, ledger, history } = stores;
  const common = { cluster, clock, log, edges, requests, artifacts, records, jitter: Math.random };
  const engine = lazyEngine(log);
  return {
    OCIRepository: patiently(ociRepositoryFlow({ ...common, http, artifactUrl }), log),
    Kustomization: patiently(
      kustomizationFlow({
        ...common,
        cluster: tolerantCluster(cluster, log),
        inventories,
        ledger,
        history,
        installationKey: state.installationKey,
        concurrency,
        build: cachedBuild({ engine, workFolder: state.work, log }),
      }),
      log,
    ),
  };
}

/** Nobody serves artifacts at home: whoever needs one takes it from the store, by its digest. */
function artifactUrl(path: string): string {
  return `http://sluice.invalid/${path}`;
}

/** Unpacking kubectl takes a second the first time, so it is looked for when a build needs it. */
function lazyEngine(log: Log): Engine {
  let found: Engine | undefined;
  return {
    async build(folder, limits, signal) {
      found ??= kubectlEngine(await layerKubectl((line) => log.info(line)));
      return found.build(folder, limits, signal);
    },
  };
}
