import { z } from "zod";
import type { ReportedEvent } from "../core/event-manifest.ts";
import type { EventRelation } from "../core/event-relation.ts";
import { messageOf } from "../core/failure.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { type ListedItems, UnreadableWorkItem, type WorkItem } from "../core/ports/work-items.ts";
import { fieldFault, fieldFaults } from "../core/validation.ts";
import { formatWorkKey, parseWorkKey, type WorkKey } from "../core/work-key.ts";
import { wakeMs } from "./timing.ts";

const counter = z.int().min(0);
const absent = z.undefined().optional();

const UntoldEvent = z.looseObject({
  event: z.custom<ReportedEvent>(isJsonObject),
  relation: z.custom<EventRelation>(isJsonObject).exactOptional(),
  since: z.number(),
});

/** Further fields of a row are of another release and are kept. */
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
  woken: counter.or(absent),
  dueAt: z.number().or(absent),
  attempts: counter,
  died: z.literal(true).or(absent),
  phase: z.enum(["Active", "Poisoned"]),
  input: z.string().or(absent),
  fault: z.string().or(absent),
  hinted: z.literal(true).or(absent),
  hintedAt: z.number().or(absent),
  memo: z.custom<JsonObject>(isJsonObject).or(absent),
  untold: z.array(UntoldEvent).or(absent),
  seen: z
    .looseObject({ objectUid: z.string(), clusterUid: z.string(), revision: z.string().exactOptional() })
    .or(absent),
});

/** The item of an object that is requested for the first time. `now`: wall time in milliseconds. */
export function newWorkItem(key: WorkKey, now: number): WorkItem {
  return {
    key,
    version: 0,
    requested: 1,
    started: 0,
    handled: 0,
    token: 0,
    lease: undefined,
    wakeUntil: now + wakeMs,
    woken: undefined,
    dueAt: undefined,
    attempts: 0,
    died: false,
    phase: "Active",
    input: undefined,
    fault: undefined,
    hinted: undefined,
    hintedAt: undefined,
    carried: undefined,
    seen: undefined,
  };
}

/** A work item as the text that its row holds. */
export function formatStoredWorkItem({ foreign, carried, ...item }: WorkItem): string {
  return JSON.stringify({
    ...foreign,
    ...item,
    memo: carried,
    key: formatWorkKey(item.key),
    died: item.died || undefined,
  });
}

/**
 * Throws an {@link UnreadableWorkItem} if the text was not written by {@link formatStoredWorkItem}.
 *
 * @param row the row's key, for the message
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
  const { lease, wakeUntil, woken, dueAt, died, input, fault, hinted, hintedAt, memo, seen, ...rest } =
    StoredWorkItem.parse(stored, {
      error: fieldFault,
    });
  const hints = { hinted, hintedAt };
  const times = { wakeUntil, woken, dueAt };
  const item = { ...rest, lease, ...times, died: died === true, input, fault, ...hints, carried: memo, seen };
  const others = Object.entries(isJsonObject(stored) ? stored : {}).filter(
    ([field]) => !(field in StoredWorkItem.shape),
  );
  return others.length === 0 ? item : { ...item, foreign: Object.fromEntries(others) };
}

/** The items of these rows. `read` answers undefined for a row that is not a work item, and throws for an unreadable one. */
export function listItems<Row>(rows: readonly Row[], read: (row: Row) => WorkItem | undefined): ListedItems {
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
  }
  return { items, unreadable };
}
