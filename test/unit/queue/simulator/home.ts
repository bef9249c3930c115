import type { Clock } from "../../../../lib/core/ports/clock.ts";
import { WakeUp } from "../../../../lib/core/ports/wake-ups.ts";
import { leaseMs } from "../../../../lib/queue/timing.ts";
import { type MessageQueue, queuedWakeUps, sqliteMessageQueue } from "../../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { effect, type Machine, type World } from "./machines.ts";
import type { Queue, RealTable, Receipt } from "./services.ts";

/** The state file of `sluice local`, in memory, with the adapters that production has there. */
export interface Home extends Disposable {
  readonly table: RealTable;
  /** The queue as this process has opened it. */
  messagesOf(on: Machine): MessageQueue;
}

/** As many messages as a process has in hand at most. */
const concurrency = 8;

/** @param queueClock the clock that the queue is given in place of its process's. */
export function openHome(queueClock = (clock: Clock): Clock => clock): Home {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const opened = new Map<Machine, MessageQueue>();
  return {
    table: {
      truth: items,
      connect: () => ({
        items,
        save: (fence, { call, landed }) => call("save", async () => database.fenced(fence, landed)),
      }),
    },
    messagesOf(on) {
      const queue = opened.get(on) ?? sqliteMessageQueue(database, queueClock(on.clock));
      opened.set(on, queue);
      return queue;
    },
    [Symbol.dispose]: () => database.close(),
  };
}

export function homeQueue(home: Home, world: World): Queue {
  return {
    loses: 0,
    seenFrom: (on) => ({
      send(wakeUp, delayMs, signal) {
        const send = (): Promise<void> => {
          world.trace(() => `${on.name} sends ${JSON.stringify(wakeUp)} +${Math.round(delayMs)}`);
          return queuedWakeUps(home.messagesOf(on)).send(wakeUp, delayMs, signal);
        };
        return effect(on, "send", send, signal, world);
      },
    }),
  };
}

/** What the feeder does, in virtual time: takes messages as they become visible, and wakes when one is sent or the next is due. */
export function feedAtHome(home: Home, on: Machine, deliver: (receipt: Receipt) => void, { time }: World): void {
  const queue = home.messagesOf(on);
  let inHand = 0;
  let looks = 0;
  const look = (): void => {
    if (on.signal.aborted) return;
    for (const message of queue.receive(concurrency - inHand, leaseMs)) {
      inHand += 1;
      let isOver = false;
      const end = (): void => {
        if (isOver) return;
        isOver = true;
        inHand -= 1;
        lookIn(0);
      };
      deliver({
        wakeUp: WakeUp.parse(JSON.parse(message.body)),
        delete() {
          queue.remove(message.id);
          end();
        },
        keep: end,
        extend: (forMs) => queue.hide(message, forMs),
      });
    }
    const nextInMs = inHand < concurrency ? queue.nextVisibleInMs() : undefined;
    if (nextInMs !== undefined) lookIn(nextInMs);
  };
  /** Each look plans the next one anew. */
  const lookIn = (ms: number): void => {
    const mine = (looks += 1);
    time.in(ms, () => on.resume(() => mine === looks && look()));
  };
  queue.onChange(() => lookIn(0));
  lookIn(0);
}
