import { messageOf } from "../lib/core/failure.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { leaseMs } from "../lib/queue/timing.ts";
import { type SqsEvent, sqsEvent } from "./sqs-event.ts";
import type { Message, MessageQueue } from "./state/message-queue.ts";

export interface FeederOptions {
  readonly queue: MessageQueue;
  /** The function behind the queue. Answers which messages must come again, or throws for all of them. */
  readonly handler: (
    event: SqsEvent,
    signal: AbortSignal,
  ) => Promise<{ batchItemFailures: readonly { itemIdentifier: string }[] }>;
  /** Handlers at the same time; each gets one message, so that no object waits for another. */
  readonly concurrency: number;
  readonly log: Log;
}

export interface Feeder {
  /** Aborts the handlers' signals with `reason` and resolves once all have ended. No message is taken any more. */
  stop(reason: Error): Promise<void>;
}

/** After so many deliveries a message is given up: no wake-up needs them, its object's own item counts the attempts. */
const maxReceives = 20;
const retryMs = 1_000;
/** As long as a Lambda may run: a handler that hangs must not keep its object for ever. */
const handlerLimitMs = 900_000;

/**
 * What Lambda's event source mapping does: takes messages as they become visible and gives them to the function. Wakes
 * when a message is sent or the next one is due, and does nothing at all meanwhile.
 */
export function startFeeder({ queue, handler, concurrency, log }: FeederOptions): Feeder {
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();
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
      const messages = queue.receive(concurrency - running.size, leaseMs);
      for (const message of messages) start(message);
      const nextInMs = running.size < concurrency ? queue.nextVisibleInMs() : undefined;
      if (nextInMs !== undefined) timer = setTimeout(feed, nextInMs);
    } catch (error) {
      log.error("queue not read, trying again", { error: messageOf(error) });
      timer = setTimeout(feed, retryMs);
    }
  };
  const start = (message: Message): void => {
    const handled = handle(message).finally(() => {
      running.delete(handled);
      schedule();
    });
    running.add(handled);
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
      // It comes again when its visibility ends, or with the next process.
      if (error !== stopped.signal.reason)
        log.error("message not handled", { body: message.body, error: messageOf(error) });
    }
  };

  queue.onChange(schedule);
  schedule();
  return {
    async stop(reason) {
      stopped.abort(reason);
      clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

function withLimit(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(handlerLimitMs)]);
}
