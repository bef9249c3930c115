import { setImmediate } from "node:timers/promises";
import { Failure } from "../../core/failure.ts";
import type { Candidate } from "./filter-tags.ts";
import type { Ranking } from "./ranking.ts";

/**
 * The tags in the order in which a policy chooses them: the one that Flux chooses, then the one that it would choose without that,
 * and so on. Among tags with the same key the last candidate wins, which is the least if the tags are in descending order.
 *
 * @throws Failure `Failure` in Flux's words, with what would mend it, if nothing can be chosen
 */
export async function choices(
  candidates: readonly Candidate[],
  ranking: Ranking,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  const tagsByKey = new Map<string, string[]>();
  for (const { key, tag } of candidates) {
    const tags = tagsByKey.get(key);
    if (tags === undefined) tagsByKey.set(key, [tag]);
    else tags.push(tag);
  }
  const ranked = await ranking.read([...tagsByKey.keys()], signal);
  const next = (): string | undefined => {
    const key = ranked.best((one) => (tagsByKey.get(one) ?? []).length > 0);
    return key === undefined ? undefined : tagsByKey.get(key)?.pop();
  };
  const first = next();
  if (first === undefined) throw new Failure("Failure", ranking.noneText(candidates.length));
  return following(first, next, signal);
}

async function* following(
  first: string,
  next: () => string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  for (let tag: string | undefined = first; tag !== undefined; tag = next()) {
    yield tag;
    // Each look at all keys is a time slice of its own.
    await setImmediate();
    signal.throwIfAborted();
  }
}
