import { parseStoredWorkItem } from "../../../lib/queue/stored-work-item.ts";
import type { StateDatabase } from "../../../local/state/state-database.ts";

/**
 * Whether no run of an object of this namespace is under way or asked for. The status of a run is there before its last event: a
 * step that ends in between would leave that event to the next.
 */
export function isAtRest({ connection }: StateDatabase, namespace: string): boolean {
  // Reading an item takes its time, and those of other namespaces are many.
  const ofNamespace = connection.prepare("SELECT key, item FROM work_items WHERE instr(key, ?) > 0");
  const rows = ofNamespace.all(`/${namespace}/`);
  return rows
    .map(({ key, item }) => parseStoredWorkItem(String(item), String(key)))
    .filter((item) => item.key.namespace === namespace)
    .every(({ lease, requested, started }) => lease === undefined && requested === started);
}
