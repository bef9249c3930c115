import { systemClock } from "../../../lib/process/system-clock.ts";
import type { InvocationResult } from "./runtime-api.ts";

/** Lambda's own, for functions that do not set another number. */
const retries = 2;

/**
 * Hands an event over as EventBridge does, asynchronously: Lambda answers at once and tries a failed event twice more. The last
 * result is answered; if it is not `returned`, the event would be in the dead-letter queue.
 * `retryDelayMs`: in Lambda a minute, and two before the last.
 */
export async function invokeAsync(
  event: unknown,
  invoke: (event: unknown) => Promise<InvocationResult>,
  retryDelayMs: number,
  signal: AbortSignal,
): Promise<InvocationResult> {
  let result = await invoke(event);
  for (let retry = 1; retry <= retries && result.kind !== "returned"; retry += 1) {
    await systemClock.sleep(retry * retryDelayMs, signal);
    result = await invoke(event);
  }
  return result;
}
