import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import { keyOf, type RowKey } from "./attributes.ts";

/**
 * An inventory of which a part is lost. To go on as if it were empty, or from the status alone, would leave objects in the
 * cluster that nobody knows of any more: whoever runs Sluice has to decide that.
 *
 * @param pointer its item, without which there is no inventory
 */
export function missingPages(table: string, key: WorkKey, pointer: RowKey): Error {
  return new Error(
    `pages of the inventory of ${formatWorkKey(key)} are missing from table ${table}; restore the table to a time when they were there, or, where that cannot be, delete its item ${JSON.stringify(keyOf(pointer))}: the next run goes on from status.inventory, and what that does not show stays in the cluster`,
  );
}
