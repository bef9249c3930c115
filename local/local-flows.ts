import type { Flows } from "../functions/kinds.ts";
import { makeFlows } from "../functions/make-flows.ts";
import type { Settings } from "../functions/settings/settings.ts";
import { logMetrics } from "../lib/core/log-metrics.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Engine } from "../lib/core/ports/engine.ts";
import type { Http } from "../lib/core/ports/http.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { ReconcileRequests } from "../lib/core/ports/reconcile-requests.ts";
import type { Stores } from "./state/open-stores.ts";
import type { StateFolder } from "./state-folder.ts";

export interface LocalFlowParts {
  readonly state: Pick<StateFolder, "installationKey">;
  readonly engine: Engine;
  readonly stores: Stores;
  readonly cluster: Cluster;
  readonly http: Http;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
}

/** The flows, on the adapters of this machine. */
export function localFlows(parts: LocalFlowParts, requests: ReconcileRequests): Flows {
  const { state, stores, settings, log, ...rest } = parts;
  const { edges, artifacts, records, inventories, ledger, history } = stores;
  return makeFlows({
    ...rest,
    ...{ log, requests, edges, artifacts, records, inventories, ledger, history, artifactUrl },
    concurrency: settings["concurrent-ssa"],
    noCrossNamespaceRefs: settings["no-cross-namespace-refs"],
    metrics: logMetrics(log),
    installationKey: state.installationKey,
  });
}

/** Nobody serves artifacts at home: whoever needs one takes it from the store, by its digest. */
function artifactUrl(path: string): string {
  return `http://sluice.invalid/${path}`;
}
