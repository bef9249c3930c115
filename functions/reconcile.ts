import { z } from "zod";
import { messageOf } from "../lib/core/failure.ts";
import { mapLimit } from "../lib/core/map-limit.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import { WakeUp } from "../lib/core/ports/wake-ups.ts";
import { isClosed, type WriteGate } from "../lib/core/ports/write-gate.ts";
import type { Flow } from "../lib/core/run.ts";
import { parseWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import { handleWakeUp } from "../lib/queue/handle-wake-up.ts";
import type { RunnerDeps } from "../lib/queue/queue-deps.ts";
import { setAside } from "../lib/queue/set-aside.ts";

export interface ReconcileDeps extends RunnerDeps {
  /** The flow of an object's kind, or undefined where this installation does not look after the kind or the cluster. */
  flowOf(key: WorkKey): Flow | undefined;
  /** While it is closed no run begins: what was asked for stays asked for, and the sweep asks again. */
  readonly gate: Pick<WriteGate, "enter">;
  readonly metrics: Metrics;
  /** Hides the message that this receipt handle names for another `visibilityMs` from now. */
  extendVisibility(receiptHandle: string, visibilityMs: number, signal: AbortSignal): Promise<void>;
}

/** Messages of one invocation: the most that SQS gives with the largest batch that it can be set to. */
export const maxBatch = 10_000;

/** The messages of one invocation, as SQS gives them. */
const SqsEvent = z.object({
  Records: z.array(z.object({ messageId: z.string(), receiptHandle: z.string(), body: z.string() })).max(maxBatch),
});
type SqsRecord = z.infer<typeof SqsEvent>["Records"][number];

/** SQS's partial batch response: these messages come again, the others are done. */
export interface BatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

const concurrency = 10;

/** Handles wake-ups: for each the run of its object's flow, where there is something to do. */
export function reconcileHandler(deps: ReconcileDeps): (event: unknown, signal: AbortSignal) => Promise<BatchResponse> {
  return async (event, signal) => {
    const { Records } = SqsEvent.parse(event);
    const never = new AbortController();
    const failed = await mapLimit(
      Records,
      concurrency,
      async (record) => ((await isHandled(record, deps, signal)) ? [] : [{ itemIdentifier: record.messageId }]),
      // Each message ends by itself, so that one that is stopped still says so.
      never.signal,
    );
    return { batchItemFailures: failed.flat() };
  };
}

async function isHandled(record: SqsRecord, deps: ReconcileDeps, signal: AbortSignal): Promise<boolean> {
  const { messageId, receiptHandle, body } = record;
  try {
    const wakeUp = WakeUp.parse(JSON.parse(body));
    const key = parseWorkKey(wakeUp.key);
    const flow = deps.flowOf(key);
    if (flow === undefined) {
      deps.log.debug("wake-up of an object that is not looked after here", { key: wakeUp.key });
      return true;
    }
    if (await isClosed(deps.gate, signal)) {
      deps.metrics.record(key, { ReconcilesRefused: 1 });
      await setAside(key, deps, signal);
      return true;
    }
    const extend = (visibilityMs: number, stop: AbortSignal): Promise<void> =>
      deps.extendVisibility(receiptHandle, visibilityMs, stop);
    await handleWakeUp({ wakeUp, extend }, flow, deps, signal);
    return true;
  } catch (error) {
    deps.log.error("wake-up not handled", { messageId, error: messageOf(error) });
    return false;
  }
}
