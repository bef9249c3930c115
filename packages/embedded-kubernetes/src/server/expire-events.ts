import { objectOf, textOf } from "../core/json-fields.ts";
import { parseStored } from "../store/stored-object.ts";
import type { Cluster } from "./cluster.ts";

const events = "/events";
const keptMs = 3_600_000;
const everyMs = 600_000;

/** Removes Events an hour after they were last written, as a real server does, so that a long run does not fill the disk. */
export function expireEvents(cluster: Cluster): { stop(): void } {
  const expire = (): void => {
    const oldest = cluster.now().getTime() - keptMs;
    for (const stored of cluster.store.list({ resource: events })) {
      const event = parseStored(stored, "v1", "Event");
      const created = textOf(objectOf(event, "metadata"), "creationTimestamp");
      const times = [created, textOf(event, "lastTimestamp"), textOf(objectOf(event, "series"), "lastObservedTime")];
      const last = Math.max(...times.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time)), 0);
      if (last < oldest) cluster.store.remove(stored, event);
    }
  };
  expire();
  const timer = setInterval(expire, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
