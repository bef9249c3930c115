import { messageOf } from "../core/failure.ts";
import type { EventSink, UntoldEvent } from "../core/ports/event-sink.ts";
import { LeaseLost } from "../core/ports/fence.ts";
import { holdsLease, type WorkItem } from "../core/ports/work-items.ts";
import { changeItem } from "./change-item.ts";
import type { QueueDeps } from "./queue-deps.ts";
import { untoldForMs } from "./timing.ts";

/** Events of one object that wait until they can be told. */
export const maxUntoldEvents = 20;

/** The limit for waiting events, as JSON in UTF-8: a row of the state table holds 400 KB. */
export const maxUntoldBytes = 200_000;

/** The Events of a run. */
export interface KeptEvents extends EventSink {
  /** Tells those that earlier runs have kept. Called before the run begins. */
  tellKept(signal: AbortSignal): Promise<void>;
}

/**
 * Tells the Events of a run, and keeps in its work item those that cannot be told now: the next run tells them first, in their order.
 * So none is lost in an outage of what tells them, nor with a process that ends in it. If an event can be neither sent nor kept, the
 * run ends, so that it is repeated.
 *
 * @param taken the item after the write that took the lease
 */
export function keepEvents(sink: EventSink, { key, token, untold = [] }: WorkItem, deps: QueueDeps): KeptEvents {
  let kept = untold;

  const write = async (next: readonly UntoldEvent[], signal: AbortSignal): Promise<void> => {
    const { outcome: isOurs } = await changeItem(
      key,
      (found) => {
        if (!holdsLease(found, { key, token })) return { outcome: false };
        return { item: { ...found, untold: next.length === 0 ? undefined : next }, outcome: true };
      },
      deps,
      signal,
    );
    if (!isOurs) throw new LeaseLost(`${key.kind}/${key.namespace}/${key.name}: another handler holds the lease`);
    kept = next;
  };

  const logged = ({ event: { reason, message }, since }: UntoldEvent) => ({ key, reason, event: message, since });

  return {
    async tellKept(signal) {
      let left = kept;
      for (const one of kept) {
        try {
          // Over a day later it is no news, and each run would wait for it.
          if (deps.clock.now() - one.since < untoldForMs) {
            await sink.tell(key.cluster, one.event, one.relation, signal);
          } else {
            deps.log.error("event not sent for a day, it is dropped", logged(one));
          }
        } catch (error) {
          signal.throwIfAborted();
          deps.log.warn("event still not sent", { ...logged(one), error: messageOf(error) });
          break;
        }
        left = left.slice(1);
      }
      // At once, since a repeated event is a copy only for a while.
      if (left !== kept) await write(left, signal);
    },
    async tell(cluster, event, relation, signal) {
      let why = "earlier ones of its object wait";
      if (kept.length === 0) {
        try {
          return await sink.tell(cluster, event, relation, signal);
        } catch (error) {
          signal.throwIfAborted();
          why = messageOf(error);
        }
      }
      const one = { event, ...(relation === undefined ? {} : { relation }), since: deps.clock.now() };
      deps.log.warn("event not sent, the next run sends it", { ...logged(one), error: why });
      const next = [...kept, one];
      while (next.length > maxUntoldEvents || bytesOf(next) > maxUntoldBytes) {
        const [oldest] = next.splice(0, 1);
        if (oldest !== undefined) deps.log.error("event dropped, too many of its object wait", logged(oldest));
      }
      await write(next, signal);
    },
  };
}

function bytesOf(events: readonly UntoldEvent[]): number {
  return Buffer.byteLength(JSON.stringify(events));
}
