import { orAborted } from "../core/concurrency.ts";
import { ageOf, type BothClocks, type Moment, momentOf } from "./moment.ts";
import type { SecretValues } from "./secret-values.ts";

/** Where the Secret of a Receiver is. */
export interface SecretRef {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

type ReadSecret = (ref: SecretRef, signal: AbortSignal) => Promise<SecretValues | undefined>;

/** How long a Secret is kept in memory, milliseconds. */
export const maxSecretAgeMs = 60_000;
/** The same for one that is not there: it may be created at any moment. */
export const maxMissingAgeMs = 2_000;
/** Secrets in memory. */
export const maxCachedSecrets = 1_000;
/** Their characters, together. */
export const maxCachedChars = 16_777_216;
/** A Secret that does not fit is not read again more often. */
const minAgeMs = 1_000;

interface Kept {
  readonly at: Moment;
  readonly values: Promise<SecretValues | undefined>;
  /** The characters of the values, once they are read. */
  chars: number;
}

/**
 * Reads each Secret at most every {@link maxSecretAgeMs}, and once for all deliveries that wait for it. If its token differs from the
 * one that the path was made with, it is read again: it was replaced.
 *
 * @param read is not stopped by a caller that gives up
 */
export function secretCache(read: ReadSecret, clock: BothClocks) {
  const kept = new Map<string, Kept>();

  const forgetOldest = (): void => {
    let chars = 0;
    for (const entry of kept.values()) chars += entry.chars;
    for (const [id, entry] of kept) {
      if (kept.size <= maxCachedSecrets && chars <= maxCachedChars) return;
      kept.delete(id);
      chars -= entry.chars;
    }
  };

  const load = (ref: SecretRef, id: string): Kept => {
    const entry: Kept = { at: momentOf(clock), values: read(ref, AbortSignal.timeout(maxReadMs)), chars: 0 };
    kept.delete(id);
    kept.set(id, entry);
    forgetOldest();
    entry.values.then(
      (values) => {
        for (const value of values?.values() ?? []) entry.chars += value.reveal().length;
        forgetOldest();
      },
      // What could not be read is not kept.
      () => kept.get(id) === entry && kept.delete(id),
    );
    return entry;
  };

  return async (
    ref: SecretRef,
    fits: (values: SecretValues) => boolean,
    signal: AbortSignal,
  ): Promise<SecretValues | undefined> => {
    const id = `${ref.cluster}/${ref.namespace}/${ref.name}`;
    const found = kept.get(id) ?? load(ref, id);
    const values = await orAborted(found.values, signal);
    const ageMs = ageOf(found.at, clock);
    const isFresh = values === undefined ? ageMs < maxMissingAgeMs : ageMs < (fits(values) ? maxSecretAgeMs : minAgeMs);
    if (isFresh) return values;
    // Another delivery may have begun to read it again.
    const now = kept.get(id);
    return orAborted((now === undefined || now === found ? load(ref, id) : now).values, signal);
  };
}

/** The cluster gives up by itself before that. */
const maxReadMs = 20_000;

export type SecretCache = ReturnType<typeof secretCache>;
