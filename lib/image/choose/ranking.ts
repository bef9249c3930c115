import type { ImagePolicySpec } from "../../api/image-policy.ts";
import { inTimeSlices } from "../../core/concurrency.ts";
import { cutText } from "../../core/cut-text.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { parseSemverRange } from "../../sources/semver-range.ts";
import { compareSemver, parseSemver } from "../../sources/semver-version.ts";
import { parseGoFloat } from "./go-float.ts";

/** Time for reading all keys of a policy. */
const maxReadingMs = 20_000;

const maxShownBytes = 200;

/** How a policy ranks keys. */
export interface Ranking {
  /** Reads all of them once. Throws a {@link Failure} if one of them spoils the whole list. */
  read(keys: readonly string[], signal: AbortSignal): Promise<Ranked>;
  /** The message if there are this many tags, and none of them can be chosen. */
  noneText(count: number): string;
}

/** Keys that were read. */
export interface Ranked {
  /** The best of those that are left; undefined if none is. Linear in time. */
  best(isLeft: (key: string) => boolean): string | undefined;
}

/**
 * The ranking of a policy: of several the first of semver, alphabetical and numerical.
 *
 * @throws Failure `InvalidPolicy` in Flux's words
 */
export function rankingOf({ semver, alphabetical, numerical }: ImagePolicySpec["policy"]): Ranking {
  if (semver !== undefined) return bySemver(semver.range);
  if (alphabetical !== undefined) return alphabetically(alphabetical.order);
  if (numerical !== undefined) return numerically(numerical.order);
  throw new Failure("InvalidPolicy", "invalid policy: given ImagePolicyChoice object is invalid");
}

type Order = "asc" | "desc";

const noneText = "unable to determine latest version from provided list";
const toNumbers =
  "leave such tags out with spec.filterTags.pattern, or take the number out of them with spec.filterTags.extract";

/** The highest version in the range; the first of equal ones. Tags that are not versions are skipped. */
function bySemver(text: string): Ranking {
  let isInRange: ReturnType<typeof parseSemverRange>;
  try {
    isInRange = parseSemverRange(text);
  } catch (error) {
    throw new Failure("InvalidPolicy", `invalid policy: ${messageOf(error)}`, { cause: error });
  }
  const read = (key: string) => {
    const version = parseSemver(key);
    return version !== undefined && isInRange(version) ? version : undefined;
  };
  const range = cutText(text, maxShownBytes);
  return {
    ...ranking(read, (version, best) => compareSemver(version, best) > 0),
    noneText: (count) => `${noneText}; none of ${count} tags is a version in spec.policy.semver.range '${range}'`,
  };
}

/** As Go compares strings: by their bytes. */
function alphabetically(order: Order): Ranking {
  const sign = order === "asc" ? 1 : -1;
  return ranking(
    (key) => Buffer.from(key),
    (bytes, best) => sign * Buffer.compare(bytes, best) > 0,
  );
}

/**
 * Among equal numbers the last one wins, and so does anything after NaN, as in Flux, where each number replaces the one before unless
 * it is worse.
 */
function numerically(order: Order): Ranking {
  const read = (key: string): number => {
    const value = parseGoFloat(key);
    if (value === undefined)
      throw new Failure("Failure", `failed to parse invalid numeric value '${key}'; ${toNumbers}`);
    return value;
  };
  return ranking(read, (value, best) => !(order === "asc" ? value < best : value > best));
}

function ranking<Value>(
  read: (key: string) => Value | undefined,
  replaces: (value: Value, best: Value) => boolean,
): Ranking {
  return {
    noneText: () => noneText,
    async read(keys, signal) {
      const values: { readonly key: string; readonly value: Value }[] = [];
      const take = (key: string): void => {
        const value = read(key);
        if (value !== undefined) values.push({ key, value });
      };
      if (!(await inTimeSlices(keys, take, maxReadingMs, signal))) {
        const why = `ranking ${keys.length} tags takes more than ${maxReadingMs / 1_000} s`;
        throw new Failure("Failure", `${why}: keep fewer of them by spec.filterTags.pattern`);
      }
      return {
        best(isLeft) {
          let best: (typeof values)[number] | undefined;
          for (const one of values) {
            if (isLeft(one.key) && (best === undefined || replaces(one.value, best.value))) best = one;
          }
          return best?.key;
        },
      };
    },
  };
}
