import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { LeaseLost } from "../../lib/core/ports/fence.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { deadlineMs } from "../deadline.ts";
import { type Random, random } from "../unit/queue/simulator/random.ts";
import { dynamodbFaults } from "./dynamodb-faults.ts";
import { realAws } from "./real-aws.ts";
import { type SimulatedDynamodb, simulatedDynamodb } from "./simulated-dynamodb.ts";
import { keyOf, leased } from "./state-back-end.ts";
import { wireFaults } from "./wire-faults.ts";

const connection = realAws("DYNAMODB");
const seeds = [1, 2, 3, 4];
const calls = 300;
const key = keyOf("web");

describe.skipIf(connection === undefined)("where SLUICE_REAL_DYNAMODB names one (npm run real -- up)", () => {
  test.each(seeds)(
    "an inventory of many pages stays complete, at whichever call of a save the lease is taken over: seed %i",
    async (seed) => {
      await using table = await simulatedDynamodb(connection ?? { region: "" }, wireFaults(dynamodbFaults, seed).of);
      const takeovers = await play(table, random(seed));
      expect(table.wrong()).toEqual([]);
      expect(takeovers).toBeGreaterThan(5);
      expect(table.saves()).toBeGreaterThan(takeovers);
    },
  );
});

/** A call that waits for its turn. */
interface Turn {
  readonly token: number;
  /** Resolves once the call has its answer. */
  readonly take: () => Promise<unknown>;
  readonly drop: (reason: unknown) => void;
}

/**
 * One holder after the other saves again and again, and none hears of its successor before the table tells it. One call is made
 * at a time, for a while by one of them: the others stall in the middle of whatever they do. Answers the takeovers.
 */
async function play(table: SimulatedDynamodb, chance: Random): Promise<number> {
  const turns: Turn[] = [];
  const stop = new AbortController();
  const holders = new Set<Promise<void>>();
  let token = 0;
  let active = 0;

  const hold = async (): Promise<void> => {
    const fence = await leased({ items: table.truth }, key);
    active = token = fence.token;
    const machine = table.connect(systemClock);
    const call = <Result>(_: string, send: () => Promise<Result>): Promise<Result> => {
      stop.signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        turns.push({ token: fence.token, take: () => send().then(resolve, reject), drop: reject });
      });
    };
    const passage = { signal: stop.signal, call, landed() {} };
    const saving = saveOn(() => machine.save(fence, passage), stop.signal).finally(() => holders.delete(saving));
    holders.add(saving);
  };

  for (let made = 0; made < calls && table.wrong().length === 0; made += 1) {
    if (made === 0 || chance.chance(0.06)) await hold();
    await vi.waitFor(() => expect(turns).not.toEqual([]), { timeout: deadlineMs, interval: 1 });
    const waiting = [...new Set(turns.map((turn) => turn.token))];
    if (chance.chance(0.05)) active = waiting[chance.int(0, waiting.length - 1)] ?? token;
    const next =
      turns.find((turn) => turn.token === active) ?? turns.findLast((turn) => turn.token === token) ?? turns[0];
    if (next === undefined) throw new Error("no call waits");
    turns.splice(turns.indexOf(next), 1);
    await next.take();
    // The caller that got the answer makes its next calls.
    await setImmediate();
  }
  stop.abort(new Error("the story is over"));
  for (const { drop } of turns) drop(stop.signal.reason);
  await Promise.all(holders);
  return token - 1;
}

/** Until the lease is lost: a save that failed for any other reason is no end, and whether it may the table tells. */
async function saveOn(save: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    try {
      await save();
    } catch (error) {
      if (error instanceof LeaseLost) return;
    }
  }
}
