import { z } from "zod";
import type { WorkKey } from "../work-key.ts";

/** One finished reconcile that changed something, or failed, for people and dashboards. No code decides by it. */
export const HistoryRecord = z.strictObject({
  /** Wall time of the end, milliseconds since 1970. */
  at: z.number(),
  revision: z.string(),
  outcome: z.string(),
  durationMs: z.number(),
  created: z.number(),
  configured: z.number(),
  unchanged: z.number(),
  deleted: z.number(),
});
export type HistoryRecord = Readonly<z.infer<typeof HistoryRecord>>;

export interface History {
  append(key: WorkKey, record: HistoryRecord, signal: AbortSignal): Promise<void>;
  /** The newest records first. */
  latest(key: WorkKey, limit: number, signal: AbortSignal): Promise<readonly HistoryRecord[]>;
}
