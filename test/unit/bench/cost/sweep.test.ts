import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { assumptions } from "../../../../bench/cost/assumptions.ts";
import { composeReconcile } from "../../../../functions/compose-reconcile.ts";
import { configSelector } from "../../../../functions/settings/flow-settings.ts";
import { defaultSettings } from "../../../../functions/settings/settings.ts";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import type { ObservedResources } from "../../../../lib/core/ports/observed-resources.ts";
import type { SweepLeases } from "../../../../lib/core/ports/sweep-leases.ts";
import { kinds } from "../../../../lib/flows/kinds/kinds.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { rules } from "../../../../lib/queue/rules.ts";
import { sqsEvent } from "../../../../local/aws-events.ts";
import { queuedLookRequests, queuedWakeUps } from "../../../../local/state/message-queue.ts";
import { openStores } from "../../../../local/state/open-stores.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { never } from "../../../contract/state-back-end.ts";
import { noHome, noTarget } from "../../../doubles/no-cluster.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

const unexpected = (): never => {
  throw new Error("the test did not expect this call");
};

type Listed = Parameters<ObservedResources["list"]>[0];
type Lease = Parameters<SweepLeases["take"]>;

/** A sweep of a cluster without objects, by a process with the default settings: its calls, which it makes one after the other. */
async function callsOfSweep() {
  const database = openStateDatabase(":memory:");
  await using open = new AsyncDisposableStack();
  open.defer(() => database.close());
  const stores = openStores(database, tmpdir(), systemClock);
  const calls = { cluster: 0, leases: 0, summaries: 0, states: 0 };
  const counted =
    <Given extends readonly unknown[], Result>(what: keyof typeof calls, call: (...given: Given) => Result) =>
    (...given: Given): Result => {
      calls[what] += 1;
      return call(...given);
    };
  const { observed, sweepLeases, clusterStates } = stores;
  // Entering it, the process looks at the object that names the owner of the cluster.
  const gate = { enter: counted("cluster", async () => {}), assertOpen: unexpected };
  const home = { ...noHome, listMetadata: counted("cluster", async () => []) };
  const { handler } = composeReconcile({
    queue: { items: stores.items, wakeUps: queuedWakeUps(stores.queue), clock: systemClock, log: silentLog, rules },
    ...{ kinds, metrics: recordedMetrics(), gates: defaultGates, configSelector: configSelector(defaultSettings) },
    stores: {
      ...stores,
      observed: {
        ...observed,
        list: counted("summaries", (kind: Listed, signal: AbortSignal) => observed.list(kind, signal)),
      },
      sweepLeases: { take: counted("leases", (...lease: Lease) => sweepLeases.take(...lease)) },
      clusterStates: {
        ...clusterStates,
        read: counted("states", (id: string, signal: AbortSignal) => clusterStates.read(id, signal)),
      },
    },
    clusters: { get: () => ({ id: "home", home, targetAs: () => noTarget, gated: () => noTarget, gate }) },
    ...{ deadLetters: stores.deadLetters, looks: queuedLookRequests(stores.queue) },
    ...{ extendVisibility: unexpected, maxRuns: () => 1, flows: unexpected },
  });
  await handler(sqsEvent([{ id: "1", body: JSON.stringify({ sweep: "home" }), receives: 1 }]), never);
  return calls;
}

test("the cost model counts as many requests and table calls of a cluster's sweep as a process makes", async () => {
  const calls = await callsOfSweep();
  const { requests, units, waits } = assumptions;
  const table = calls.leases + calls.summaries + calls.states;
  expect(requests.clusterSweep.cluster).toBe(calls.cluster);
  expect(waits.clusterSweep).toMatchObject({ cluster: calls.cluster, table });
  expect(units.clusterSweep.write).toBe(calls.leases);
  // A consistent query takes a unit at least. The sweep of the table reads the states of the cluster too, at half a unit.
  expect(units.clusterSweep.read).toBeGreaterThanOrEqual(calls.summaries + 2 * 0.5 * calls.states);
});
