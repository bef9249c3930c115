import {
  type CauseGroup,
  type CauseGroupKey,
  type CauseGroups,
  groupKeptMs,
} from "../../lib/core/ports/cause-groups.ts";

interface Kept {
  readonly group: CauseGroup;
  readonly version: string;
  readonly until: number;
  /** The waiting objects, by the opening time of their group. */
  readonly waiting: Map<number, Set<string>>;
}

/** How many writes lie between two looks for what is forgotten. */
const sweptEvery = 1_000;

/** In memory, as {@link memoryEventWindows}: after a restart a group that was open begins again with the next message. */
export function memoryCauseGroups(): CauseGroups {
  const kept = new Map<string, Kept>();
  let writes = 0;
  const sweep = (now: number): void => {
    writes += 1;
    if (writes % sweptEvery !== 0) return;
    for (const [id, { until }] of kept) if (until <= now) kept.delete(id);
  };
  return {
    async get(key, now, signal) {
      signal.throwIfAborted();
      const found = kept.get(idOf(key));
      return found === undefined || found.until <= now ? undefined : { group: found.group, version: found.version };
    },
    async put(key, group, before, now, signal) {
      signal.throwIfAborted();
      const id = idOf(key);
      const found = kept.get(id);
      const present = found !== undefined && found.until > now ? found.version : undefined;
      if (present !== before) return undefined;
      sweep(now);
      const waiting = new Map([...(found?.waiting ?? [])].filter(([opened]) => opened === group.opened));
      kept.set(id, { group, version: String(writes), until: now + groupKeptMs, waiting });
      return String(writes);
    },
    async join(key, opened, name, _now, signal) {
      signal.throwIfAborted();
      const found = kept.get(idOf(key));
      if (found === undefined) return;
      const names = found.waiting.get(opened) ?? new Set();
      found.waiting.set(opened, names.add(name));
    },
    async hasJoined(key, opened, name, signal) {
      signal.throwIfAborted();
      return kept.get(idOf(key))?.waiting.get(opened)?.has(name) ?? false;
    },
    async waiting(key, opened, signal) {
      signal.throwIfAborted();
      return [...(kept.get(idOf(key))?.waiting.get(opened) ?? [])].toSorted();
    },
  };
}

function idOf({ cluster, alert, cause }: CauseGroupKey): string {
  return JSON.stringify([cluster, alert.namespace, alert.name, cause.kind, cause.namespace, cause.name]);
}
