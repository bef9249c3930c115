import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../../lib/core/ports/clock.ts";
import { type Fence, LeaseLost } from "../../../../lib/core/ports/fence.ts";
import type { WakeUp, WakeUps } from "../../../../lib/core/ports/wake-ups.ts";
import {
  holdsLease,
  type LeasedItems,
  type ListedItems,
  overdueAt,
  overduePageSize,
  type WorkItem,
  type WorkItems,
} from "../../../../lib/core/ports/work-items.ts";
import { formatWorkKey } from "../../../../lib/core/work-key.ts";
import { effect, type Machine, type World } from "./machines.ts";

/** The table, as it is. */
export interface Table {
  readonly rows: Map<string, WorkItem>;
  /** Names of rows that take no write, for a reason of their own. */
  readonly stuck: Set<string>;
  writes: number;
}

/** Who lists leases is a table in one place. */
type Items = WorkItems & LeasedItems;

/** A real table, in whose place the rows are a copy: what is known to be in it. */
export interface RealTable {
  /** Without faults, to see what became of a write that gave no answer. */
  readonly truth: WorkItems & Partial<LeasedItems>;
  /** As one machine with this clock reaches it. */
  connect(clock: Clock): MachineTable;
}

export interface MachineTable {
  readonly items: WorkItems;
  /** A write to the state under a fence. */
  save(fence: Fence, passage: Passage): Promise<void>;
}

/** The way of one write to a real table, which takes several calls: time passes on each and between them. */
export interface Passage {
  readonly signal: AbortSignal;
  readonly call: <Result>(name: string, send: () => Promise<Result>) => Promise<Result>;
  /** Says that the write has been made at this moment, whatever is still to be cleaned up. */
  readonly landed: () => void;
}

interface RealItems {
  readonly items: WorkItems;
  readonly truth: RealTable["truth"];
  readonly violate: (what: string) => void;
}

/** The table as one machine sees it. */
export function itemsSeenFrom(
  machine: Machine,
  table: Table,
  onPut: (item: WorkItem, before: WorkItem | undefined) => void,
  world: World,
  real?: RealItems,
): Items {
  const call = <Result>(name: string, apply: () => Result | Promise<Result>, signal: AbortSignal): Promise<Result> =>
    effect(machine, name, apply, signal, world, { cutOff: world.tableAway || machine.isCutOff() });
  const put = (item: WorkItem): "stored" | "conflict" => {
    const id = formatWorkKey(item.key);
    if (table.stuck.has(item.key.name)) throw new Error("this row takes no write");
    const before = table.rows.get(id);
    if ((before?.version ?? 0) !== item.version - 1) return "conflict";
    table.rows.set(id, item);
    table.writes += 1;
    onPut(item, before);
    return "stored";
  };
  if (real !== undefined) return realItems(table, put, call, real);
  const atOf = (item: WorkItem): number => overdueAt(item) ?? Infinity;
  const overdue = (now: number): readonly WorkItem[] =>
    [...table.rows.values()].filter((item) => atOf(item) <= now).toSorted((a, b) => atOf(a) - atOf(b));
  return {
    get: (key, signal) => call("get", () => table.rows.get(formatWorkKey(key)), signal),
    put: (item, signal) => call("put", () => put(item), signal),
    async *overdue(now, isWanted, signal) {
      let found: readonly WorkItem[] | undefined;
      for (let start = 0; ; start += overduePageSize) {
        const page = await call(
          "overdue",
          () => (found ??= overdue(now)).slice(start, start + overduePageSize),
          signal,
        );
        yield { items: page.filter(({ key }) => isWanted(key.cluster)), unreadable: [] };
        if (page.length < overduePageSize) return;
      }
    },
    leased: (signal) => call("leased", () => leasedOf(table), signal),
  };
}

function leasedOf({ rows }: Table): ListedItems {
  return { items: [...rows.values()].filter(({ lease }) => lease !== undefined), unreadable: [] };
}

function realItems(
  table: Table,
  put: (item: WorkItem) => "stored" | "conflict",
  call: <Result>(name: string, apply: () => Promise<Result>, signal: AbortSignal) => Promise<Result>,
  { items, truth, violate }: RealItems,
): Items {
  const { signal: never } = new AbortController();
  const read = async (key: WorkItem["key"]): Promise<WorkItem | undefined> => {
    const found = await items.get(key, never);
    if (!isDeepStrictEqual(found, table.rows.get(formatWorkKey(key)))) violate(`${key.name} was read as it is not`);
    return found;
  };
  const write = async (item: WorkItem): Promise<"stored" | "conflict"> => {
    const answer = await items.put(item, never).catch(async (error: unknown) => {
      if (isDeepStrictEqual(await truth.get(item.key, never), item)) put(item);
      throw error;
    });
    if (put(item) !== answer) violate(`a write to ${item.key.name} was answered ${answer}`);
    return answer;
  };
  return {
    get: (key, signal) => call("get", () => read(key), signal),
    put: (item, signal) => call("put", () => write(item), signal),
    async *overdue(now, isWanted, signal) {
      const pages: ListedItems[] = [];
      const look = async (): Promise<void> => {
        for await (const page of items.overdue(now, isWanted, never)) pages.push(page);
      };
      await call("overdue", look, signal);
      yield* pages;
    },
    leased: (signal) => call("leased", async () => (await truth.leased?.(never)) ?? leasedOf(table), signal),
  };
}

/** What every store checks in the transaction of a write under a fence. */
export function fencedWrite(item: WorkItem | undefined, fence: Fence): void {
  if (!holdsLease(item, fence)) throw new LeaseLost("another token by now");
}

/** What Lambda asks of a queue: no less than a function may run. */
export const visibilityMs = 900_000;

/** One handling of a message. */
export interface Receipt {
  readonly wakeUp: WakeUp;
  delete(): void;
  /** Says that the message has to come again. */
  keep(): void;
  extend(forMs: number): void | Promise<void>;
}

/** A queue that drops, doubles, delays and reorders while the world is faulty; in any case at least once and never early. */
export interface Queue {
  /** How many of the next messages are lost on the way. */
  loses: number;
  seenFrom(machine: Machine): WakeUps;
}

/** `deliver` is given what one invocation is: here one message. */
export function queue(deliver: (batch: readonly Receipt[]) => void, world: World): Queue {
  const { time, chance } = world;

  const enqueue = (wakeUp: WakeUp, delayMs: number): void => {
    let receives = 0;
    let deleted = false;
    const receive = (): void => {
      if (deleted) return;
      receives += 1;
      const mine = receives;
      let visibleAt = time.now() + visibilityMs;
      const expire = (): void => {
        if (deleted || mine !== receives) return;
        if (time.now() >= visibleAt) receive();
      };
      time.in(visibilityMs, expire);
      const receipt: Receipt = {
        wakeUp,
        delete() {
          deleted = true;
        },
        keep() {},
        extend(forMs) {
          if (mine !== receives) return;
          visibleAt = time.now() + forMs;
          time.in(forMs, expire);
        },
      };
      deliver([receipt]);
      if (world.faulty && chance.chance(0.03)) deliver([receipt]);
    };
    const lateMs = world.faulty && chance.chance(0.1) ? chance.int(1_000, 120_000) : chance.int(1, 30);
    time.in(delayMs + lateMs, receive);
  };

  const self: Queue = {
    loses: 0,
    seenFrom: (machine) => ({
      send: (wakeUp, delayMs, signal) =>
        effect(
          machine,
          "send",
          () => {
            const lost = self.loses > 0;
            self.loses -= lost ? 1 : 0;
            const copies = lost ? 0 : !world.faulty ? 1 : chance.chance(0.08) ? 0 : chance.chance(0.08) ? 2 : 1;
            world.trace(() => `${machine.name} sends ${JSON.stringify(wakeUp)} +${Math.round(delayMs)} x${copies}`);
            for (let copy = 0; copy < copies; copy += 1) enqueue(wakeUp, delayMs);
          },
          signal,
          world,
        ),
    }),
  };
  return self;
}
