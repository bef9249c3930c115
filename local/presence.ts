import { formatWorkKey, type WorkKey } from "../lib/core/work-key.ts";

/** The objects of a kind that its watch shows, and so the namespaces that have some. */
export interface Presence {
  /** These are all there are. */
  set(keys: readonly WorkKey[]): void;
  add(key: WorkKey): void;
  remove(key: WorkKey): void;
  hasIn(namespace: string): boolean;
  /** Resolves once there are objects, or once there are none: at once if it is so, and when `signal` is aborted. */
  until(what: "some" | "none", signal: AbortSignal): Promise<void>;
}

/** Nothing is present before a watch says so. */
export function presence(): Presence {
  let present = new Map<string, string>();
  const waiting = new Set<() => void>();
  const isSo = (what: "some" | "none"): boolean => present.size > 0 === (what === "some");
  const tell = (): void => {
    for (const look of waiting) look();
  };
  return {
    set(keys) {
      present = new Map(keys.map((key) => [formatWorkKey(key), key.namespace]));
      tell();
    },
    add(key) {
      present.set(formatWorkKey(key), key.namespace);
      tell();
    },
    remove(key) {
      present.delete(formatWorkKey(key));
      tell();
    },
    hasIn: (namespace) => [...present.values()].includes(namespace),
    until(what, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = (): void => {
        if (!isSo(what) && !signal.aborted) return;
        waiting.delete(look);
        signal.removeEventListener("abort", look);
        resolve();
      };
      waiting.add(look);
      signal.addEventListener("abort", look);
      look();
      return promise;
    },
  };
}
