import { Failure, type Reason, type Retry } from "../../core/failure.ts";

/**
 * A failure before a chart is built. As in Flux, the event has its reason and text, and the condition the reason `Unknown` (reference
 * sources 7.3).
 */
export function unknownFailure(reason: Reason, message: string, cause: unknown, retry?: Retry): Failure {
  const inCondition = { reason: "Unknown", message: `unknown build error: ${message}` } as const;
  return new Failure(reason, message, { cause, inCondition, ...(retry === undefined ? {} : { retry }) });
}
