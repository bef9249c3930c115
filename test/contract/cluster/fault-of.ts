import { ApiError } from "../../../lib/core/ports/cluster.ts";

/** The error that a call ends with; a call that succeeds fails the test. */
export async function faultOf(call: Promise<unknown>): Promise<ApiError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof ApiError) return outcome;
  throw new Error("expected an ApiError", { cause: outcome });
}
