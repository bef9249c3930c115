import type { WorkKey } from "../work-key.ts";

/** One finished reconcile, for people and dashboards; nothing is ever decided by it. */
export interface HistoryRecord {
  /** Wall time of the end, milliseconds since 1970. */
  readonly at: number;
  readonly revision: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly created: number;
  readonly configured: number;
  readonly unchanged: number;
  readonly deleted: number;
}

export interface History {
  append(key: WorkKey, record: HistoryRecord, signal: AbortSignal): Promise<void>;
  /** The newest records first. */
  latest(key: WorkKey, limit: number, signal: AbortSignal): Promise<readonly HistoryRecord[]>;
}
