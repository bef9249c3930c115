import { z } from "zod";
import type { JsonObject } from "../../core/json.ts";

/** What a run tells the next one of the same object. Only ever a hint: without it the wait begins anew. */
const Memo = z.object({
  /** Retries in a row, for the back-off. */
  failures: z.number().int().min(0).default(0),
  /** The deletion has begun: what the status knows is in the inventory, and its inventory is not written any more. */
  isFinalizing: z.boolean().optional(),
  /** The wait that is under way: for health, for a definition to be served, for something to be gone. */
  wait: z
    .object({
      /** What is waited with: another revision or generation begins a new wait. */
      revision: z.string(),
      generation: z.number(),
      /** What is waited for: a stage of the apply, something that is being deleted, or health. Each has a time of its own. */
      phase: z.enum(["apply", "deletion", "health"]),
      /** When the reconcile began, and when the wait did: wall time in milliseconds. */
      startedAt: z.number(),
      since: z.number(),
      looks: z.number().int(),
      /** Whether the apply before the wait changed anything. */
      changed: z.boolean(),
    })
    .optional(),
});
export type Memo = Readonly<z.infer<typeof Memo>>;
export type Wait = Readonly<NonNullable<Memo["wait"]>>;

/** Reads a memo; one of an older or newer release counts as none. */
export function readMemo(memo: JsonObject | undefined): Memo {
  const parsed = Memo.safeParse(memo ?? {});
  return parsed.success ? parsed.data : { failures: 0 };
}

/** How long after the n-th look the next wake-up comes: 1, 2, 3, 5, 5 … seconds. */
export function nextLookMs(looks: number): number {
  return [1_000, 2_000, 3_000][looks] ?? 5_000;
}

/** The same where a deletion is waited for, which a finalizer may hold for long: 1, 2, 3, 5, 10, 20, 40, 60, 60 … seconds. */
export function nextDeletionLookMs(looks: number): number {
  return Math.min(nextLookMs(looks) * 2 ** Math.max(0, looks - 3), 60_000);
}
