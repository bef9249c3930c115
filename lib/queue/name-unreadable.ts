import type { UnreadableWorkItem } from "../core/ports/work-items.ts";
import type { QueueDeps } from "./queue-deps.ts";

/** Rows that are named at once; a rollback may leave thousands. */
const maxNamed = 20;

/** Says in the log which rows were passed over. A release that can read them heals them: they are left as they are. */
export function nameUnreadable(unreadable: readonly UnreadableWorkItem[], { log }: Pick<QueueDeps, "log">): void {
  for (const { row, message } of unreadable.slice(0, maxNamed)) {
    log.error("work item not read", { row, error: message, unreadable: unreadable.length });
  }
}
