import { AwsFault } from "../aws-fault.ts";

/** The tries of a {@link retryBudget} are used up: too much load on the table, or on one item of it. */
export function gaveUp(table: string, action: string, why: string, cause?: unknown): AwsFault {
  const message = `dynamodb:${action} on table ${table}: ${why}, also after several tries; later it may work`;
  return new AwsFault("throttled", "", message, cause === undefined ? {} : { cause });
}
