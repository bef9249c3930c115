import { type EventWindows, forgottenMs, nextWindow } from "../../lib/core/ports/event-windows.ts";

/** How many takes lie between two looks for what is forgotten. */
const sweptEvery = 1_000;

/** In memory, as in Flux: after a restart every event is the first of its window. */
export function memoryEventWindows(): EventWindows {
  const windows = new Map<string, number>();
  let taken = 0;
  return {
    async covers(cluster, key, now, signal) {
      signal.throwIfAborted();
      return nextWindow(windows.get(`${key}/${cluster}`), now) === undefined;
    },
    async take(cluster, key, now, signal) {
      signal.throwIfAborted();
      const id = `${key}/${cluster}`;
      const next = nextWindow(windows.get(id), now);
      if (next === undefined) return false;
      windows.set(id, next);
      taken += 1;
      if (taken % sweptEvery === 0) {
        for (const [one, started] of windows) if (now - started >= forgottenMs) windows.delete(one);
      }
      return true;
    },
  };
}
