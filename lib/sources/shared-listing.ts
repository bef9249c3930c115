import { orAborted } from "../core/concurrency.ts";
import type { Clock } from "../core/ports/clock.ts";

/** The refs or tags that an origin has listed. */
export interface Question<Answer> {
  /** Who asks what of which origin: equal for two questions only if they are allowed to see the same. It may hold secrets. */
  readonly key: string;
  /** Since when the asker would learn of a change by an event, by the clock's monotonic time. Only what was listed later is an answer. */
  readonly since: number;
  readonly ask: (signal: AbortSignal) => Promise<Answer>;
  /** The memory that an answer takes, in bytes. */
  readonly bytesOf: (answer: Answer) => number;
}

/** Asks an origin, or answers what another run of this process has just learned of it. */
export type ShareListing = <Answer>(question: Question<Answer>, signal: AbortSignal) => Promise<Answer>;

interface Listing {
  readonly startedAt: number;
  readonly answer: Promise<unknown>;
  /** The size of the answer, once it has arrived. */
  bytes: number;
}

/** Runs that began before a listing come to their own question within this time. */
const listingKeptMs = 10_000;
export const maxListings = 32;
/** The limit for the answers together: a list of tags may have some megabytes. */
export const maxListingBytes = 64 * 1024 * 1024;

/** How long, and how many answers a process keeps. */
interface Kept {
  readonly keptMs: number;
  readonly max: number;
}

/**
 * One listing for all runs of a process that send the same request while it is under way. If a push wakes a thousand sources of one
 * repository, each batch of runs lists once. An answer is never older than the run's request: what changes after the listing began is
 * announced to those who were subscribed by then, and they run again. A failed listing is not kept, and a caller that waited for one
 * asks by itself: its failure may be that of another run that was stopped.
 */
export function sharedListings(
  clock: Pick<Clock, "monotonic">,
  { keptMs, max }: Kept = { keptMs: listingKeptMs, max: maxListings },
): ShareListing {
  const latest = new Map<string, Listing>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key belongs to one kind of answer: it begins with its question
  const typed = <Answer>(listing: Listing) => listing.answer as Promise<Answer>;
  const forgetTooMany = (): void => {
    let bytes = [...latest.values()].reduce((sum, listing) => sum + listing.bytes, 0);
    for (const [oldest, listing] of latest) {
      if (latest.size <= max && bytes <= maxListingBytes) break;
      latest.delete(oldest);
      bytes -= listing.bytes;
    }
  };
  return async <Answer>({ key, since, ask, bytesOf }: Question<Answer>, signal: AbortSignal): Promise<Answer> => {
    const now = clock.monotonic();
    for (const [old, { startedAt }] of latest) if (now - startedAt > keptMs) latest.delete(old);
    const found = latest.get(key);
    if (found !== undefined && found.startedAt > since) {
      try {
        return await orAborted(typed<Answer>(found), signal);
      } catch {
        signal.throwIfAborted();
        return ask(signal);
      }
    }
    const answer = ask(signal);
    const listing: Listing = { startedAt: now, answer, bytes: 0 };
    // Deleted first, so that the oldest is the first.
    latest.delete(key);
    latest.set(key, listing);
    forgetTooMany();
    const weigh = (found: Answer): void => {
      listing.bytes = bytesOf(found);
      forgetTooMany();
    };
    answer.then(weigh, () => {
      if (latest.get(key) === listing) latest.delete(key);
    });
    return answer;
  };
}
