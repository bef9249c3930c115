import { messageOf } from "../lib/core/failure.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { leaseMs } from "../lib/queue/timing.ts";
import { type SqsEvent, sqsEvent } from "./aws-events.ts";
import type { Message, MessageQueue } from "./state/message-queue.ts";

export interface FeederOptions {
  readonly queue: MessageQueue;
  /** The function behind the queue. Answers which messages must be delivered again, or throws for all of them. */
  readonly handler: (
    event: SqsEvent,
    signal: AbortSignal,
  ) => Promise<{ batchItemFailures: readonly { itemIdentifier: string }[] }>;
  /**
   * Handlers at the same time for a group of messages, 0 to leave them in the queue; each gets one message, so that no object waits
   * for another.
   */
  readonly placesOf: (group: string) => number;
  readonly log: Log;
}

export interface Feeder {
  /** To be called when a group has got places. */
  look(): void;
  /** Takes no more messages, aborts the handlers' signals with `reason` and resolves once all handlers have ended. */
  stop(reason: Error): Promise<void>;
}

/** After so many deliveries a message is dropped. No wake-up needs as many: the work item of its object counts the attempts. */
const maxReceives = 20;
const retryMs = 1_000;
/** As long as a Lambda may run: a handler that hangs must not keep its object forever. */
const handlerLimitMs = 900_000;

/**
 * What Lambda's event source mapping does: takes messages as they become visible and gives them to the function. Wakes
 * when a message is sent or the next one is due, and is idle in between.
 */
export function startFeeder({ queue, handler, placesOf, log }: FeederOptions): Feeder {
  const stopped = new AbortController();
  const running = new Map<Promise<void>, string>();
  let timer: NodeJS.Timeout | undefined;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled || stopped.signal.aborted) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      feed();
    });
  };
  const feed = (): void => {
    clearTimeout(timer);
    if (stopped.signal.aborted) return;
    try {
      const waits = queue.groups().flatMap((group) => feedGroup(group) ?? []);
      if (waits.length > 0) timer = setTimeout(feed, Math.min(...waits));
    } catch (error) {
      log.error("queue not read, trying again", { error: messageOf(error) });
      timer = setTimeout(feed, retryMs);
    }
  };
  /** Answers in how many milliseconds it can take another message of the group, if there is a place for it. */
  const feedGroup = (group: string): number | undefined => {
    const free = (): number => placesOf(group) - [...running.values()].filter((each) => each === group).length;
    if (free() <= 0) return undefined;
    const waitMs = queue.nextVisibleInMs(group);
    // Far cheaper than to receive nothing, which is a transaction.
    if (waitMs !== 0) return waitMs;
    for (const message of queue.receive(free(), leaseMs, group)) start(message, group);
    return free() > 0 ? queue.nextVisibleInMs(group) : undefined;
  };
  const start = (message: Message, group: string): void => {
    const handled = handle(message).finally(() => {
      running.delete(handled);
      schedule();
    });
    running.set(handled, group);
  };
  const handle = async (message: Message): Promise<void> => {
    try {
      if (message.receives > maxReceives) {
        log.error("message given up", { body: message.body, receives: message.receives });
      } else {
        const { batchItemFailures } = await handler(sqsEvent([message]), withLimit(stopped.signal));
        if (batchItemFailures.length > 0) return;
      }
      queue.remove(message.id);
    } catch (error) {
      // It is delivered again when its visibility ends, or by the next process.
      if (error !== stopped.signal.reason)
        log.error("message not handled", { body: message.body, error: messageOf(error) });
    }
  };

  queue.onChange(schedule);
  schedule();
  return {
    look: schedule,
    async stop(reason) {
      stopped.abort(reason);
      clearTimeout(timer);
      await Promise.all(running.keys());
    },
  };
}

function withLimit(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(handlerLimitMs)]);
}
