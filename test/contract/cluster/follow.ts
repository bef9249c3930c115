import type { Cluster, WatchEvent } from "../../../lib/core/ports/cluster.ts";
import { untilDeadline } from "../../deadline.ts";

/** A watch that is read event by event, bookmarks on the way left out, all of it within the deadline. */
export function follow(cluster: Cluster, query: Parameters<Cluster["watch"]>[0]) {
  const stop = new AbortController();
  const events = cluster.watch(query, AbortSignal.any([stop.signal, untilDeadline()]))[Symbol.asyncIterator]();
  const next = async (): Promise<WatchEvent> => {
    for (;;) {
      const { value, done } = await events.next();
      if (done === true) throw new Error("the watch ended");
      if (value.type !== "BOOKMARK" || value.initialEventsEnd) return value;
    }
  };
  return {
    next,
    async initialEnd() {
      while ((await next()).type !== "BOOKMARK");
    },
    [Symbol.dispose]() {
      stop.abort(new Error("read enough"));
    },
  };
}
