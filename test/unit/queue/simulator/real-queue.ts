import { type DeadLetter, WakeUp, type WakeUps } from "../../../../lib/core/ports/wake-ups.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { effect, type World } from "./machines.ts";
import type { Random } from "./random.ts";
import { type Queue, type Receipt, visibilityMs } from "./services.ts";

/** A message as a receive hands it out; hidden until it is shown again. */
export interface RealMessage {
  readonly handle: string;
  readonly body: string;
  /** How long its sender wanted it to be delayed. */
  readonly delayMs: number;
  /** 1 at the first. */
  readonly receives: number;
}

/** A real queue, in which the messages lie; when each is to be had, the story's time says. */
export interface RealQueue {
  /** As handlers reach it. */
  readonly wakeUps: WakeUps;
  hide(handle: string, forMs: number): Promise<void>;
  /** For how long calls of `hide` that got there have hidden a message since the last look. */
  hiddenForMs(handle: string): number | undefined;
  /** Sends a dead letter, and tells whose have arrived. */
  sendLetter(letter: DeadLetter, onArrival: (key: WorkKey) => void): Promise<void>;
  /** Without faults: everything that is not hidden. */
  receive(): Promise<readonly RealMessage[]>;
  /** Without faults: a message whose time in hand is over is there again, unless it was removed. */
  show(handle: string): Promise<void>;
  /** Without faults: as if it had never arrived. */
  lose(handle: string): Promise<void>;
  /** As the event source removes what a whole batch came to. */
  removeBatch(handles: readonly string[]): Promise<void>;
}

const { signal: never } = new AbortController();
const maxBatch = 10;

/**
 * The queue as Lambda's event source reads it: messages that are there at about the same time are a batch in any order, whose
 * handled ones are removed together at the end of all. A process that dies removes none.
 */
export function realQueue(deliver: (batch: readonly Receipt[]) => void, world: World, real: RealQueue): Queue {
  const { time, chance } = world;
  const visible: RealMessage[] = [];
  const self: Queue = {
    loses: 0,
    seenFrom: (machine) => ({
      send(wakeUp, delayMs, signal) {
        const send = async (): Promise<void> => {
          world.trace(() => `${machine.name} sends ${JSON.stringify(wakeUp)} +${Math.round(delayMs)}`);
          try {
            await real.wakeUps.send(wakeUp, delayMs, never);
          } finally {
            await arrive();
          }
        };
        return effect(machine, "send", send, signal, world);
      },
    }),
  };

  /** Looks for what has really arrived, whatever its sender was told. */
  const arrive = async (): Promise<void> => {
    for (const message of await real.receive()) {
      const isNew = message.receives === 1;
      const isLost = isNew && (self.loses > 0 || (world.faulty && chance.chance(0.08)));
      if (isLost) {
        self.loses = Math.max(0, self.loses - 1);
        world.trace(() => `lost: ${message.body}`);
        await real.lose(message.handle);
        continue;
      }
      const lateMs = world.faulty && chance.chance(0.1) ? chance.int(1_000, 120_000) : chance.int(1, 30);
      time.in((isNew ? message.delayMs : 0) + lateMs, () => appear(message));
    }
  };
  const again = ({ handle }: RealMessage): void => time.hold(real.show(handle).then(arrive));

  const appear = (message: RealMessage): void => {
    visible.push(message);
    if (visible.length === 1) time.in(chance.int(0, 20), handOut);
  };
  const handOut = (): void => {
    const batch = inAnyOrder(visible.splice(0, maxBatch), chance);
    if (visible.length > 0) time.in(chance.int(0, 20), handOut);
    deliver(inHand(batch));
    for (const message of batch) {
      // A standard queue delivers at least once.
      if (world.faulty && chance.chance(0.03)) time.in(chance.int(1, 1_000), () => again(message));
    }
  };

  const inHand = (batch: readonly RealMessage[]): readonly Receipt[] => {
    const open = new Set(batch);
    const handled: string[] = [];
    const end = (message: RealMessage): void => {
      open.delete(message);
      if (open.size === 0 && handled.length > 0) time.hold(real.removeBatch(handled.splice(0)));
    };
    return batch.map((message) => {
      const { handle } = message;
      let visibleAt = time.now() + visibilityMs;
      let isOver = false;
      const expire = (): void => {
        if (isOver || time.now() < visibleAt) return;
        isOver = true;
        again(message);
      };
      time.in(visibilityMs, expire);
      const hidden = (): void => {
        const forMs = real.hiddenForMs(handle);
        if (forMs === undefined || isOver) return;
        visibleAt = time.now() + forMs;
        time.in(forMs, expire);
      };
      return {
        wakeUp: WakeUp.parse(JSON.parse(message.body)),
        delete() {
          handled.push(handle);
          end(message);
        },
        keep: () => end(message),
        extend: (forMs) => real.hide(handle, forMs).finally(hidden),
      };
    });
  };
  return self;
}

function inAnyOrder<Item>(items: readonly Item[], chance: Random): readonly Item[] {
  return items
    .map((item) => ({ item, place: chance.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
