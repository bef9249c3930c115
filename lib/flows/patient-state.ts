import { storeOutage } from "../core/outage.ts";
import type { ArtifactRecords } from "../core/ports/artifact-records.ts";
import type { Edges } from "../core/ports/edges.ts";
import type { InventoryStore } from "../core/ports/inventory-store.ts";
import type { Ledger } from "../core/ports/ledger.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";

/** What the flows go by that Sluice keeps itself. */
export interface StatePorts {
  readonly edges: Edges;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly records: ArtifactRecords;
  readonly requests: ReconcileRequests;
}

/**
 * The same state, whose faults say nothing of the object that meets them: each is an Outage, which `patiently` waits out.
 * A lost lease, a run that was stopped and a mistake in a program stay what they are.
 */
export function patientState({ edges, inventories, ledger, records, requests }: StatePorts): StatePorts {
  return {
    edges: {
      listen: (whats, fence, signal) => orOutage(edges.listen(whats, fence, signal), signal),
      listeners: (what, signal) => orOutage(edges.listeners(what, signal), signal),
    },
    inventories: {
      load: (owner, fence, signal) => orOutage(inventories.load(owner, fence, signal), signal),
      savedUnder: (owner, fence, signal) => orOutage(inventories.savedUnder(owner, fence, signal), signal),
      save: (owner, entries, fence, signal) => orOutage(inventories.save(owner, entries, fence, signal), signal),
      remove: (owner, fence, signal) => orOutage(inventories.remove(owner, fence, signal), signal),
    },
    ledger: {
      claim: (cluster, claims, fence, signal) => orOutage(ledger.claim(cluster, claims, fence, signal), signal),
      release: (cluster, uid, ids, fence, signal) => orOutage(ledger.release(cluster, uid, ids, fence, signal), signal),
      claims: (cluster, ids, signal) => orOutage(ledger.claims(cluster, ids, signal), signal),
    },
    records: {
      record: (source, uid, digest, fence, signal) =>
        orOutage(records.record(source, uid, digest, fence, signal), signal),
      retain: (source, uid, digests, fence, signal) =>
        orOutage(records.retain(source, uid, digests, fence, signal), signal),
      recorded: (source, uid, digest, signal) => orOutage(records.recorded(source, uid, digest, signal), signal),
    },
    requests: {
      request: (key, reason, signal) =>
        orOutage(requests.request(key, reason, signal), signal, "a wake-up was not sent"),
    },
  };
}

function orOutage<Result>(
  call: Promise<Result>,
  signal: AbortSignal,
  what = "Sluice's own state is out of reach",
): Promise<Result> {
  return call.catch(storeOutage("ReconciliationFailed", what, signal));
}
