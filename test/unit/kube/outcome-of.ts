import { ApiError } from "../../../lib/core/ports/cluster.ts";

/** The status of the answer, or the reason why there is none. */
export function outcomeOf(call: Promise<{ readonly status: number }>): Promise<number | string> {
  return call.then(
    ({ status }) => status,
    (error: unknown) => (error instanceof ApiError ? error.reason : String(error)),
  );
}
