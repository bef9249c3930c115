import type { ObjectKey, StoredObject } from "./stored-object.ts";

/** One committed change. A deleted object carries the revision of its deletion. */
export interface StoreEvent extends ObjectKey {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  readonly current: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** The recent past, for watches that resume and for pages of a list that show its first page's state. */
export interface History {
  /** Revisions before this are forgotten: one can resume from it, not from one below. */
  oldest(): number;
  push(event: StoreEvent): void;
  /** Events after that revision, in order. */
  after(revision: number): readonly StoreEvent[];
  /** Forgets everything before now. */
  compact(revision: number): void;
}

/** Keeps at most this many events and this many characters of JSON, whichever is less. */
const limits = { events: 2000, characters: 6_000_000 };

export function historyFrom(revision: number): History {
  let events: StoreEvent[] = [];
  let oldest = revision;
  let characters = 0;
  return {
    oldest: () => oldest,
    push(event) {
      events.push(event);
      characters += sizeOf(event);
      if (events.length <= limits.events && characters <= limits.characters) return;
      // A quarter at once: dropping one by one would shift the whole list on every write.
      const dropped = events.splice(0, Math.ceil(events.length / 4));
      characters -= dropped.reduce((sum, one) => sum + sizeOf(one), 0);
      oldest = dropped.at(-1)?.revision ?? oldest;
    },
    after(after) {
      let first = events.length;
      while (first > 0 && (events[first - 1]?.revision ?? 0) > after) first -= 1;
      return events.slice(first);
    },
    compact(now) {
      events = [];
      characters = 0;
      oldest = now;
    },
  };
}

function sizeOf({ current, previous }: StoreEvent): number {
  const before = previous === undefined ? 0 : previous.body.length + previous.metadata.length;
  return current.body.length + current.metadata.length + before;
}
