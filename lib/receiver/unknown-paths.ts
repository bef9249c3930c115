import type { ReceiverIndex } from "../core/ports/receiver-index.ts";
import { ageOf, type BothClocks, type Moment, momentOf } from "./moment.ts";

/** How long a path that was unknown stays so, milliseconds: a Receiver may get it at any moment. */
export const maxUnknownAgeMs = 1_000;
/** Unknown paths in memory. */
export const maxUnknownPaths = 10_000;

/** The index, which is asked at most once a second for a path that it does not know. */
export function rememberingUnknown(
  { find }: Pick<ReceiverIndex, "find">,
  clock: BothClocks,
): Pick<ReceiverIndex, "find"> {
  const unknown = new Map<string, Moment>();
  return {
    async find(path, signal) {
      const since = unknown.get(path);
      if (since !== undefined && ageOf(since, clock) < maxUnknownAgeMs) return [];
      unknown.delete(path);
      const found = await find(path, signal);
      if (found.length > 0) return found;
      const [oldest] = unknown.keys();
      if (unknown.size >= maxUnknownPaths && oldest !== undefined) unknown.delete(oldest);
      unknown.set(path, momentOf(clock));
      return found;
    },
  };
}
