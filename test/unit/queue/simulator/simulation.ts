import type { Clock } from "../../../../lib/core/ports/clock.ts";
import type { Flow, FlowResult, Run } from "../../../../lib/core/ports/run.ts";
import type { DeadLetter } from "../../../../lib/core/ports/wake-ups.ts";
import type { LeasedItems, WorkItem } from "../../../../lib/core/ports/work-items.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { handleWakeUp } from "../../../../lib/queue/handle-wake-up.ts";
import type { RequestKind } from "../../../../lib/queue/hint-rules.ts";
import type { RunnerDeps } from "../../../../lib/queue/queue-deps.ts";
import { requestReconcile } from "../../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../../lib/queue/rules.ts";
import { runPlaces } from "../../../../lib/queue/run-places.ts";
import { sweep, voidLeases } from "../../../../lib/queue/sweep.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { applyTo, type Ground, type Handling, reconcile } from "./handling.ts";
import { feedAtHome, type Home, homeQueue } from "./home.ts";
import { effect, type Machine, startHost, startMachine, type World } from "./machines.ts";
import { random } from "./random.ts";
import { type RealQueue, realQueue } from "./real-queue.ts";
import {
  fencedWrite,
  itemsSeenFrom,
  type MachineTable,
  type Queue,
  queue,
  type RealTable,
  type Receipt,
  type Table,
} from "./services.ts";
import { newSubject, type Subject } from "./subject.ts";
import { timeline } from "./timeline.ts";

/** What a test takes out of the protocol, to see that it is missed. */
export interface Mutation {
  readonly deps?: (deps: SimulatedDeps) => Partial<SimulatedDeps>;
  /** In place of the fence that every store has to check. */
  readonly fence?: typeof fencedWrite;
  readonly sweep?: typeof sweep;
  readonly voidLeases?: typeof voidLeases;
  /** False: the message in hand is left as the queue hides it. */
  readonly extends?: boolean;
  /** False: the cluster's adapter does not ask for the lease right before it sends. */
  readonly asksBeforeSend?: boolean;
  /** The clock by which the queue of a home measures delays. */
  readonly queueClock?: (clock: Clock) => Clock;
  /** In place of rows in memory. */
  readonly table?: RealTable;
  /** In place of messages in memory. */
  readonly queue?: RealQueue;
}

/** What a process is made of here; only one at home lists leases. */
export type SimulatedDeps = RunnerDeps & { readonly items: LeasedItems };

export interface Simulation {
  /** False while no sweep is to run: one whose clock is ahead may call early what is due soon. */
  sweeping: boolean;
  readonly world: World;
  readonly table: Table;
  readonly subjects: readonly Subject[];
  readonly queue: Queue;
  readonly violations: string[];
  readonly lines: string[];
  item(subject: Subject): WorkItem | undefined;
  machine(): Machine;
  depsOf(on: Machine): SimulatedDeps;
  /** Requests a run. `change`: because there is new content. */
  request(subject: Subject, change: boolean, kind?: RequestKind): void;
  /** A wake-up without a request: the queue doubles messages. */
  wake(subject: Subject): void;
  sweepOn(machine: Machine): void;
  readonly violate: (what: string) => void;
}

/** What there is in a story. */
export interface Cast {
  readonly names: readonly string[];
  readonly machines: number;
  /** Where everything lies that a `sluice local` keeps: one process at a time, each on the same host. */
  readonly home?: Home;
  /** Where work items lie in place of rows in memory. */
  readonly table?: RealTable;
  /** What a run does, in place of its subject's script. */
  readonly flow?: (handling: Handling, run: Run, deps: SimulatedDeps) => Promise<FlowResult>;
}

const usualCast: Cast = { names: ["a", "b", "c"], machines: 3 };
/** As long as a Lambda may run, less what is kept for its end. */
const invocationMs = 885_000;

export function startSimulation(
  seed: number,
  mutation: Mutation,
  traced: boolean,
  { names, machines: machineCount, home, table: tableOfCast, flow: flowOfCast }: Cast = usualCast,
): Simulation {
  const lines: string[] = [];
  const violations: string[] = [];
  const chance = random(seed);
  const time = timeline(1_800_000_000_000);
  const startedAt = time.now();
  const world: World = {
    time,
    chance,
    faulty: true,
    tableAway: false,
    dropsOfDead: home !== undefined,
    trace: (line) => {
      if (traced) lines.push(`${((time.now() - startedAt) / 1000).toFixed(3)} ${line()}`);
    },
  };
  const host = home === undefined ? undefined : startHost(world);
  const realTable = mutation.table ?? tableOfCast ?? home?.table;
  const table: Table = { rows: new Map(), stuck: new Set(), writes: 0 };
  const subjects = names.map(newSubject);
  const bySubject = new Map(subjects.map((subject) => [formatWorkKey(subject.key), subject]));
  const fleet: Machine[] = [];
  const deps = new Map<Machine, SimulatedDeps>();
  /** Where a process has to start before it does anything. */
  const ready = new Map<Machine, Promise<void>>();
  const connections = new Map<Machine, MachineTable>();
  let machines = 0;
  let holders = 0;

  const violate = (what: string): void => {
    world.trace(() => `VIOLATION ${what}`);
    violations.push(what);
  };
  const subjectOf = (key: WorkKey): Subject => {
    const subject = bySubject.get(formatWorkKey(key));
    if (subject === undefined) throw new Error("no such subject");
    return subject;
  };

  const ground: Ground = {
    world,
    table,
    violate,
    subjectOf,
    fence: mutation.fence ?? fencedWrite,
    asksBeforeSend: mutation.asksBeforeSend ?? true,
    save: realTable && ((machine, ...rest) => connections.get(machine)?.save(...rest) ?? Promise.resolve()),
  };

  const boot = (): Machine => {
    machines += 1;
    const machine = startMachine(`m${machines}`, world, host);
    const connection = realTable?.connect(machine.clock);
    if (connection !== undefined) connections.set(machine, connection);
    const real = connection && realTable && { items: connection.items, truth: realTable.truth, violate };
    const own: SimulatedDeps = {
      items: itemsSeenFrom(machine, table, (item, before) => onPut(machine, item, before), world, real),
      wakeUps: wakeUps.seenFrom(machine),
      deadLetters: {
        send: (letter, signal) => effect(machine, "dead letter", () => sendLetter(letter), signal, world),
      },
      clock: machine.clock,
      runPlaces: runPlaces(machine.clock),
      log: traced
        ? {
            ...silentLog,
            warn: (message, fields) => world.trace(() => `${machine.name} warns: ${message} ${JSON.stringify(fields)}`),
          }
        : silentLog,
      rules,
      newHolder: () => `holder-${(holders += 1)}`,
      inputOf: (key, signal) => effect(machine, "input", () => `content ${subjectOf(key).content}`, signal, world),
      onParked: () => Promise.reject(new Error("meant for a handler")),
    };
    const mutated = { ...own, ...mutation.deps?.(own) };
    deps.set(machine, mutated);
    if (home !== undefined) ready.set(machine, startAtHome(home, machine, mutated));
    return machine;
  };

  /** As `sluice local` starts: it has the folder's lock, so every holder of a lease is dead; then it reads its queue. */
  const startAtHome = async (at: Home, on: Machine, own: SimulatedDeps): Promise<void> => {
    world.trace(() => `${on.name} starts`);
    try {
      await (mutation.voidLeases ?? voidLeases)(own, on.signal);
    } catch {
      return on.crash();
    }
    feedAtHome(at, on, (receipt) => deliver([receipt], on), world);
  };

  const sendLetter: (letter: DeadLetter) => void | Promise<void> = ({ key, ...rest }) => {
    if (mutation.queue === undefined) return void (subjectOf(key).letters += 1);
    return mutation.queue.sendLetter({ key, ...rest }, (arrived) => void (subjectOf(arrived).letters += 1));
  };

  const machine = (): Machine => {
    const index = chance.int(0, machineCount - 1);
    const found = fleet[index];
    // At home the next process gets the folder's lock only when this one has ended.
    if (found?.alive() === true && (home !== undefined || !found.signal.aborted)) return found;
    return (fleet[index] = boot());
  };
  /** As soon as this machine can run, and has started. */
  const resume = (on: Machine, happen: () => void): void =>
    on.resume(() => {
      const started = ready.get(on);
      if (started === undefined) happen();
      else void started.then(happen);
    });
  const depsOf = (on: Machine): SimulatedDeps => {
    const own = deps.get(on);
    if (own === undefined) throw new Error("no such machine");
    return own;
  };

  const onPut = (on: Machine, item: WorkItem, before: WorkItem | undefined): void => {
    const subject = subjectOf(item.key);
    const skewMs = on.clock.now() - time.now();
    world.trace(() => `${on.name} puts ${subject.key.name} ${describe(item)}`);
    const taken = item.lease !== undefined && item.lease.holder !== before?.lease?.holder;
    if (taken) subject.holder = item.lease.holder;
    judgeCounters(item, before);
    if (taken && before !== undefined && before.lease === undefined && before.requested === before.started) {
      // Only clocks that are wrong, by two skews at most, can bring a due time forward.
      const earlyMs = subject.dueAt === undefined ? Infinity : subject.dueAt - time.now();
      const { name } = subject.key;
      if (earlyMs === Infinity) violate(`${name} was run, but was neither due nor requested`);
      else if (earlyMs > 601_000) violate(`${name} was run ${earlyMs} ms before it was due, without a request`);
    }
    subject.dueAt = item.dueAt === undefined ? undefined : item.dueAt - skewMs;
  };

  const judgeCounters = (item: WorkItem, before: WorkItem | undefined): void => {
    const { name } = item.key;
    const { requested, started, handled } = item;
    if (handled > started || started > requested)
      violate(`${name} counts ${requested} requests, ${started} begun on, ${handled} handled`);
    const isNoted = before === undefined || before.lease !== undefined || item.phase === "Poisoned";
    if (!isNoted && handled !== before.handled) violate(`a request of ${name} counts as handled, and no run has ended`);
    if (before?.lease !== undefined && item.lease === undefined && handled > before.started)
      violate(`a request of ${name} that came during a run counts as handled by it`);
  };

  const handle = (receipt: Receipt, on: Machine): void => {
    world.trace(() => `${on.name} receives ${JSON.stringify(receipt.wakeUp)}`);
    const extend = async (visibilityMs: number, signal: AbortSignal): Promise<void> => {
      if (mutation.extends !== false) await effect(on, "extend", () => receipt.extend(visibilityMs), signal, world);
    };
    const base = depsOf(on);
    const handling: Handling = { machine: on, holder: "" };
    const own: SimulatedDeps = {
      ...base,
      newHolder: () => (handling.holder = base.newHolder()),
      onParked: (run) =>
        applyTo(handling, run, { waitMs: 0, applyMs: 20 }, ground, (subject) => {
          subject.announced += 1;
        }),
    };
    const flow: Flow = (run) => flowOfCast?.(handling, run, own) ?? reconcile(handling, run, ground);
    handleWakeUp({ wakeUp: receipt.wakeUp, extend }, flow, own, invocation(on)).then(
      () => void effect(on, "delete", () => receipt.delete(), on.signal, world).catch(() => receipt.keep()),
      (error: unknown) => {
        world.trace(() => `${on.name} fails to handle: ${String(error)}`);
        receipt.keep();
      },
    );
  };
  /** The signal of one invocation: that its time is up, or that its process has to end. */
  const invocation = (on: Machine): AbortSignal => {
    const limit = new AbortController();
    on.signal.addEventListener("abort", () => limit.abort(on.signal.reason), { once: true });
    time.in(invocationMs, () => limit.abort(new Error("time is up")));
    return limit.signal;
  };
  const deliver = (batch: readonly Receipt[], on = machine()): void => {
    resume(on, () => {
      for (const receipt of batch) handle(receipt, on);
    });
  };
  const queueOfStory = (): Queue => {
    if (home !== undefined) return homeQueue(home, world);
    return mutation.queue === undefined ? queue(deliver, world) : realQueue(deliver, world, mutation.queue);
  };
  const wakeUps = queueOfStory();

  const simulation: Simulation = {
    sweeping: true,
    world,
    table,
    queue: wakeUps,
    subjects,
    violations,
    lines,
    violate,
    machine,
    depsOf,
    item: (subject) => table.rows.get(formatWorkKey(subject.key)),
    request(subject, change, kind = "request") {
      const on = machine();
      resume(on, () => {
        if (change) subject.content += 1;
        const askedAt = time.now();
        const { content } = subject;
        world.trace(() => `${on.name} asks for ${subject.key.name} by a ${kind}, content ${content}`);
        requestReconcile(subject.key, "test", depsOf(on), on.signal, kind).then(
          () => {
            world.trace(() => `request of ${subject.key.name} acknowledged`);
            subject.asked = Math.max(subject.asked, askedAt);
            subject.askedContent = Math.max(subject.askedContent, content);
          },
          // A caller that hears of a fault asks again or is told by the sweep; nothing was promised.
          () => {},
        );
      });
    },
    wake(subject) {
      const on = machine();
      wakeUps
        .seenFrom(on)
        .send({ key: formatWorkKey(subject.key) }, 0, on.signal)
        .catch(() => {});
    },
    sweepOn(on) {
      resume(on, () => {
        if (!simulation.sweeping) return;
        world.trace(() => `${on.name} sweeps`);
        (mutation.sweep ?? sweep)(depsOf(on), on.signal).catch(() => {});
      });
    },
  };
  return simulation;
}

function describe({ version, requested, started, handled, token, lease, attempts, phase, dueAt }: WorkItem): string {
  const held = lease === undefined ? "free" : `held ${token}.${lease.renewals}`;
  const due = dueAt === undefined ? "" : ` due ${new Date(dueAt).toISOString().slice(11, 19)}`;
  return `v${version} ${requested}/${started}/${handled} ${held} attempts ${attempts} ${phase}${due}`;
}
