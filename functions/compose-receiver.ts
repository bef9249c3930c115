import type { Cel } from "../lib/cel/cel.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Log } from "../lib/core/ports/log.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { ReceiverIndex } from "../lib/core/ports/receiver-index.ts";
import type { ReconcileHints } from "../lib/core/ports/reconcile-requests.ts";
import type { Clusters } from "../lib/gate/served-clusters.ts";
import type { Authentications } from "../lib/receiver/authenticate.ts";
import { secretCache } from "../lib/receiver/secret-cache.ts";
import { readSecretValues } from "../lib/receiver/secret-values.ts";
import { rememberingUnknown } from "../lib/receiver/unknown-paths.ts";
import { type Receive, receiveWebhooks } from "./receiver.ts";

/** The adapters that a process needs to answer webhooks. */
export interface ReceiverAdapters {
  readonly receivers: ReceiverIndex;
  /** The clusters that this process serves. */
  readonly clusters: Pick<Clusters, "get">;
  readonly requests: ReconcileHints;
  /** Who may send deliveries to Receivers, by type. */
  readonly authentications: Authentications;
  readonly cel: Cel;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Puts together a process that answers webhooks; it remembers Secrets and unknown paths for a while. */
export function composeReceiver({ receivers, clusters, ...adapters }: ReceiverAdapters): Receive {
  const { clock } = adapters;
  return receiveWebhooks({
    ...adapters,
    receivers: rememberingUnknown(receivers, clock),
    secretOf: secretCache(async ({ cluster: id, ...secret }, signal) => {
      const cluster = clusters.get(id);
      if (cluster === undefined) throw new Error(`cluster ${id} is not served here`);
      return readSecretValues(cluster.home, secret, signal);
    }, clock),
  });
}
