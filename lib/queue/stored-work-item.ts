import { z } from "zod";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { WorkItem } from "../core/ports/work-items.ts";
import { formatWorkKey, parseWorkKey } from "../core/work-key.ts";

const counter = z.int().min(0);
const absent = z.undefined().optional();

const StoredWorkItem = z.strictObject({
  key: z.string().transform(parseWorkKey),
  version: counter,
  requested: counter,
  started: counter,
  handled: counter,
  token: counter,
  lease: z.strictObject({ holder: z.string(), renewals: counter }).or(absent),
  wakeUntil: z.number().or(absent),
  dueAt: z.number().or(absent),
  attempts: counter,
  died: z.literal(true).or(absent),
  phase: z.enum(["Active", "Poisoned"]),
  input: z.string().or(absent),
  fault: z.string().or(absent),
  memo: z.custom<JsonObject>(isJsonObject).or(absent),
  seen: z
    .strictObject({ objectUid: z.string(), clusterUid: z.string(), revision: z.string().exactOptional() })
    .or(absent),
});

/** A work item as the text that its row holds. */
export function formatStoredWorkItem(item: WorkItem): string {
  return JSON.stringify({ ...item, key: formatWorkKey(item.key), died: item.died || undefined });
}

/** Throws where the text was not written by {@link formatStoredWorkItem}. */
export function parseStoredWorkItem(stored: string): WorkItem {
  const { lease, wakeUntil, dueAt, died, input, fault, memo, seen, ...rest } = StoredWorkItem.parse(JSON.parse(stored));
  return { ...rest, lease, wakeUntil, dueAt, died: died === true, input, fault, memo, seen };
}
