import { z } from "zod";
import { messageOf } from "../lib/core/failure.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { Flow } from "../lib/core/ports/run.ts";
import { LookRequest, SweepRequest, WakeUp } from "../lib/core/ports/wake-ups.ts";
import { closedReason, type WriteGate } from "../lib/core/ports/write-gate.ts";
import { parseWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import type { ClusterLimits } from "../lib/queue/cluster-limits.ts";
import { type Delivery, handleWakeUp, postpone, setAside } from "../lib/queue/handle-wake-up.ts";
import type { RunnerDeps } from "../lib/queue/queue-deps.ts";
import type { LookAtObject } from "./look-at-object.ts";
import { type BatchResponse, handleBatch, type SqsRecord } from "./sqs-batch.ts";
import type { SweepCluster } from "./sweep-cluster.ts";

export interface ReconcileDeps extends RunnerDeps {
  /** While the gate of a cluster is closed no run begins in it: what was asked for stays asked for, and the sweep asks again. */
  readonly clusters: { get(id: string): { readonly gate: Pick<WriteGate, "enter"> } | undefined };
  /** The flow of an object's kind, or undefined where this installation does not look after the kind or the cluster. */
  flowOf(key: WorkKey): Flow | undefined;
  readonly sweepCluster: SweepCluster;
  readonly lookAtObject: LookAtObject;
  /** Asked before anything of a wake-up's object is read: one cluster must neither starve nor stall another. */
  readonly limits: Pick<ClusterLimits, "enter" | "gateSaid">;
  readonly metrics: Metrics;
  /** Hides the message that this receipt handle names for another `visibilityMs` from now. */
  extendVisibility(receiptHandle: string, visibilityMs: number, signal: AbortSignal): Promise<void>;
}

/** What travels in the queue. */
const Message = z.union([WakeUp, SweepRequest, LookRequest]);

/** Handles wake-ups, for each the run of its object's flow where there is something to do, sweeps clusters, and looks at objects that are about to change. */
export function reconcileHandler(deps: ReconcileDeps): (event: unknown, signal: AbortSignal) => Promise<BatchResponse> {
  return (event, signal) => handleBatch(event, (record) => isHandled(record, deps, signal));
}

async function isHandled(record: SqsRecord, deps: ReconcileDeps, signal: AbortSignal): Promise<boolean> {
  const { messageId, receiptHandle, body } = record;
  try {
    const message = Message.parse(JSON.parse(body));
    if ("sweep" in message) {
      await deps.sweepCluster(message.sweep, signal);
      return true;
    }
    if ("look" in message) {
      await deps.lookAtObject(message.look, signal);
      return true;
    }
    const wakeUp = message;
    const key = parseWorkKey(wakeUp.key);
    const cluster = deps.clusters.get(key.cluster);
    const flow = cluster === undefined ? undefined : deps.flowOf(key);
    if (cluster === undefined || flow === undefined) {
      deps.log.debug("wake-up of an object that is not looked after here", { key: wakeUp.key });
      return true;
    }
    const extend = (visibilityMs: number, stop: AbortSignal): Promise<void> =>
      deps.extendVisibility(receiptHandle, visibilityMs, stop);
    await atCluster({ wakeUp, extend }, cluster, flow, deps, signal);
    return true;
  } catch (error) {
    deps.log.error("wake-up not handled", { messageId, error: messageOf(error) });
    return false;
  }
}

/** Handles the wake-up where a run may begin in its cluster now. Otherwise nothing of it is lost, and it costs no attempt. */
async function atCluster(
  delivery: Delivery,
  { gate }: { readonly gate: Pick<WriteGate, "enter"> },
  flow: Flow,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<void> {
  const { wakeUp } = delivery;
  const key = parseWorkKey(wakeUp.key);
  const admission = await deps.limits.enter(key.cluster, signal);
  switch (admission.kind) {
    case "held":
      return setAside(key, deps, signal);
    case "full":
      return postpone(wakeUp, admission.delayMs, deps, signal);
    case "admitted": {
      await using place = admission.place;
      const refused = await closedReason(gate, signal);
      await deps.limits.gateSaid(key.cluster, refused);
      if (refused === undefined) return await handleWakeUp(delivery, place.watch(flow), deps, signal);
      deps.metrics.record(key, { ReconcilesRefused: 1 }, { refused });
      return await setAside(key, deps, signal);
    }
  }
}
