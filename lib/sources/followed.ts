import { inTimeSlices } from "../core/concurrency.ts";
import type { Follows } from "../core/follows.ts";
import type { Follower } from "../core/ports/subscriptions.ts";

/** The change that an event reports. A field that the event does not name is unset: it may have any value. */
export interface Change {
  /** A tag, a whole ref of git, or a key of a bucket. */
  readonly name?: string;
  /** The digest of the present content of the name, or of the removed content. */
  readonly digest?: string;
}

/** For all filters of one event. Who has not been judged by then is woken. */
const maxJudgingMs = 5_000;

/**
 * The followers that a change may concern, in their order. In doubt it does: a follower that is woken in vain asks its origin once,
 * one that is not woken waits for its interval.
 */
export async function concernedBy(
  change: Change,
  followers: readonly Follower[],
  signal: AbortSignal,
): Promise<readonly Follower[]> {
  const hasRanges = followers.some(({ follows }) => follows?.kind === "range");
  // With a matcher of regular expressions that is a tenth of what the function would load at its start.
  const versionsIn = hasRanges ? (await import("./versions-in.ts")).versionsIn : undefined;
  const verdicts = new Map<string, boolean>();
  const untouched = new Set<Follower>();
  const judge = (follower: Follower): void => {
    const text = JSON.stringify(follower.follows ?? null);
    const verdict = verdicts.get(text) ?? mayConcern(change, follower.follows, versionsIn);
    verdicts.set(text, verdict);
    if (!verdict) untouched.add(follower);
  };
  await inTimeSlices(followers, judge, maxJudgingMs, signal);
  return followers.filter((follower) => !untouched.has(follower));
}

type VersionsIn = typeof import("./versions-in.ts").versionsIn;

function mayConcern({ name, digest }: Change, follows: Follows | undefined, versionsIn?: VersionsIn): boolean {
  switch (follows?.kind) {
    case undefined:
      return true;
    case "names":
      return name === undefined || follows.names.includes(name);
    case "prefix":
      return name === undefined || name.startsWith(follows.prefix);
    case "objects":
      return name === undefined || follows.selectors.some((one) => "labels" in one || one.name === name);
    case "digest":
      return digest === undefined || digest === follows.digest;
    case "range":
      return name === undefined || versionsIn === undefined || isInRange(name, follows, versionsIn);
  }
}

function isInRange(
  name: string,
  { semver, filter, after = "", isChart }: Follows & { readonly kind: "range" },
  versionsIn: VersionsIn,
): boolean {
  if (!name.startsWith(after)) return false;
  try {
    return versionsIn({ semver, filter, isChart: isChart === true })(name.slice(after.length)) !== undefined;
  } catch (error) {
    // A range or a filter that its own run refuses: the run says so.
    if (error instanceof RangeError) return true;
    throw error;
  }
}
