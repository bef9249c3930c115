import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { digestOf } from "../../core/digest.ts";
import { overdueAt, type WorkItem } from "../../core/ports/work-items.ts";
import { formatWorkKey } from "../../core/work-key.ts";
import { formatStoredWorkItem, parseStoredWorkItem } from "../../queue/stored-work-item.ts";
import { type Row, textOf } from "./attributes.ts";

/**
 * Shards of the due index. Each takes 1,000 writes a second, and each is asked at every sweep. Rows say theirs, so more of
 * them is no new layout; fewer is.
 */
export const shardCount = 8;

/**
 * The index knows due times by the minute, rounded down: taking a lease, its renewals and a burst of requests then move no
 * key of the index, which costs two writes. Whoever reads the index looks at the item for the exact time.
 */
const bucketMs = 60_000;

/** The shard of an item. */
export function shardName(shard: number): string {
  return `due#${shard}`;
}

/** What the row holds of the item besides its key; undefined is what it must not hold. */
export function workAttributes(item: WorkItem): Readonly<Record<string, AttributeValue | undefined>> {
  const due = overdueAt(item);
  return {
    version: { N: String(item.version) },
    token: { N: String(item.token) },
    // What fenced writes look at, and people.
    holder: item.lease === undefined ? undefined : { S: item.lease.holder },
    item: { S: formatStoredWorkItem(item) },
    shard: due === undefined ? undefined : { S: shardName(shardOf(item)) },
    overdue: due === undefined ? undefined : { N: String(Math.floor(due / bucketMs) * bucketMs) },
  };
}

/**
 * Undefined where the row was made by something else than a work item: its edges were written first. Throws an
 * `UnreadableWorkItem` where it is none of this release.
 */
export function workItemOf(row: Row): WorkItem | undefined {
  return row["item"] === undefined ? undefined : parseStoredWorkItem(textOf(row, "item"), textOf(row, "pk"));
}

function shardOf({ key }: WorkItem): number {
  return Number.parseInt(digestOf(formatWorkKey(key)).slice("sha256:".length, "sha256:".length + 4), 16) % shardCount;
}
