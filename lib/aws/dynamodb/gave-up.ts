import { AwsFault } from "../aws-fault.ts";
import type { StateTable } from "./state-table.ts";

/** The tries of a {@link retryBudget} are used up: too much load on the table, or on one item of it. */
export function gaveUp({ name: table }: StateTable, action: string, why: string, cause?: unknown): AwsFault {
  const message = `dynamodb:${action} on table ${table}: ${why}, also after several tries; later it may work`;
  return new AwsFault("throttled", "", message, cause === undefined ? {} : { cause });
}
