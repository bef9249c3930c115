import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import { fieldFault, fieldFaults } from "../core/field-faults.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { type ListedItems, UnreadableWorkItem, type WorkItem } from "../core/ports/work-items.ts";
import { formatWorkKey, parseWorkKey } from "../core/work-key.ts";

const counter = z.int().min(0);
const absent = z.undefined().optional();

/** What else a row holds is of another release, and is kept. */
const StoredWorkItem = z.object({
  key: z.string().transform((text, context) => {
    try {
      return parseWorkKey(text);
    } catch {
      context.addIssue("names no object");
      return z.NEVER;
    }
  }),
  version: counter,
  requested: counter,
  started: counter,
  handled: counter,
  token: counter,
  lease: z.looseObject({ holder: z.string(), renewals: counter }).or(absent),
  wakeUntil: z.number().or(absent),
  dueAt: z.number().or(absent),
  attempts: counter,
  died: z.literal(true).or(absent),
  phase: z.enum(["Active", "Poisoned"]),
  input: z.string().or(absent),
  fault: z.string().or(absent),
  memo: z.custom<JsonObject>(isJsonObject).or(absent),
  seen: z
    .looseObject({ objectUid: z.string(), clusterUid: z.string(), revision: z.string().exactOptional() })
    .or(absent),
});

/** A work item as the text that its row holds. */
export function formatStoredWorkItem({ foreign, ...item }: WorkItem): string {
  return JSON.stringify({ ...foreign, ...item, key: formatWorkKey(item.key), died: item.died || undefined });
}

/**
 * Throws an {@link UnreadableWorkItem} where the text was not written by {@link formatStoredWorkItem}.
 *
 * @param row the row's key, for people
 */
export function parseStoredWorkItem(stored: string, row: string): WorkItem {
  try {
    return workItemFrom(JSON.parse(stored));
  } catch (error) {
    const reason = error instanceof z.ZodError ? fieldFaults(error) : messageOf(error);
    throw new UnreadableWorkItem(row, reason, { cause: error });
  }
}

function workItemFrom(stored: unknown): WorkItem {
  const { lease, wakeUntil, dueAt, died, input, fault, memo, seen, ...rest } = StoredWorkItem.parse(stored, {
    error: fieldFault,
  });
  const item = { ...rest, lease, wakeUntil, dueAt, died: died === true, input, fault, memo, seen };
  const others = Object.entries(isJsonObject(stored) ? stored : {}).filter(
    ([field]) => !(field in StoredWorkItem.shape),
  );
  return others.length === 0 ? item : { ...item, foreign: Object.fromEntries(others) };
}

/** The first `limit` items of these rows; `read` answers undefined for a row that is none, and throws for one that is unreadable. */
export function listItems<Row>(
  rows: Iterable<Row>,
  read: (row: Row) => WorkItem | undefined,
  limit = Number.POSITIVE_INFINITY,
): ListedItems {
  const items: WorkItem[] = [];
  const unreadable: UnreadableWorkItem[] = [];
  for (const row of rows) {
    try {
      const item = read(row);
      if (item !== undefined) items.push(item);
    } catch (error) {
      if (!(error instanceof UnreadableWorkItem)) throw error;
      unreadable.push(error);
    }
    if (items.length >= limit) break;
  }
  return { items, unreadable };
}
