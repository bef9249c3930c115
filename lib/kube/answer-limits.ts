/** How much of an API server's answers is held in memory, in bytes. */
export interface AnswerLimits {
  readonly answer: number;
  /** All answers together that are coming in over one connection's agents. */
  readonly arriving: number;
  /** All lists together that are being read from one cluster, as far as they are kept: what they take in memory. */
  readonly lists: number;
}

/** The limit for the installation's own clusters. */
export const maxAnswerBytes = 64 * 1024 * 1024;
const ownLimits: AnswerLimits = { answer: maxAnswerBytes, arriving: Infinity, lists: Infinity };

/**
 * For a cluster that a tenant names: its server may answer anything, and a process without memory ends with all its runs. An object
 * of a real cluster has 3 MiB at most.
 */
export const remoteLimits: AnswerLimits = {
  answer: 8 * 1024 * 1024,
  arriving: 32 * 1024 * 1024,
  lists: 64 * 1024 * 1024,
};

/** Bytes that are held now, of a kind that has a limit. */
export interface Held {
  bytes: number;
  readonly max: number;
}

/** What one connection holds. */
export interface AnswerBudget {
  readonly answer: number;
  readonly arriving: Held;
  readonly lists: Held;
}

export function answerBudget({ answer, arriving, lists }: AnswerLimits = ownLimits): AnswerBudget {
  return { answer, arriving: { bytes: 0, max: arriving }, lists: { bytes: 0, max: lists } };
}

/** An answer is longer than it may be. Fewer objects in one answer may help. */
export class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong";
}
