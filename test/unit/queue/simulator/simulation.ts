import type { Log } from "../../../../lib/core/ports/log.ts";
import type { WorkItem } from "../../../../lib/core/ports/work-items.ts";
import type { Flow, Run } from "../../../../lib/core/run.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { handleWakeUp } from "../../../../lib/queue/handle-wake-up.ts";
import type { RunnerDeps } from "../../../../lib/queue/queue-deps.ts";
import { requestReconcile } from "../../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../../lib/queue/rules/rules.ts";
import { sweep } from "../../../../lib/queue/sweep.ts";
import { effect, type Machine, startMachine, type World } from "./machines.ts";
import { random } from "./random.ts";
import { fencedWrite, itemsSeenFrom, type Queue, queue, type Receipt, type Table } from "./services.ts";
import { timeline } from "./timeline.ts";

/** What a test takes out of the protocol, to see that it is missed. */
export interface Mutation {
  readonly deps?: (deps: RunnerDeps) => RunnerDeps;
  /** In place of the fence that every store has to check. */
  readonly fence?: typeof fencedWrite;
  readonly sweep?: typeof sweep;
}

/** How an object's runs go. */
export interface Script {
  readonly steps: number;
  readonly stepMs: number;
  readonly applyMs: number;
  readonly dueInMs: number | undefined;
  readonly throws: boolean;
}

/** One object, and what really happened to it. */
export interface Subject {
  readonly key: WorkKey;
  /** The number of the content that it should have in the cluster. */
  content: number;
  /** What the content does to a run: `kills` takes its whole machine along. */
  nature: "good" | "throws" | "kills";
  /** The content in the cluster. */
  applied: number;
  /** When the latest request that was acknowledged had been called. */
  asked: number;
  askedContent: number;
  /** When the latest run that ended well had begun. */
  servedFrom: number;
  runs: number;
  runningSince: number | undefined;
  runner: Machine | undefined;
  startedAt: number;
  endedAt: number;
  announced: number;
  letters: number;
  /** The true time that the item's dueAt stands for. */
  dueAt: number | undefined;
  script: () => Script;
}

export interface Simulation {
  /** False while no sweep is to run: one whose clock is ahead may call early what is due soon. */
  sweeping: boolean;
  readonly world: World;
  readonly table: Table;
  readonly subjects: readonly Subject[];
  readonly violations: string[];
  readonly lines: string[];
  item(subject: Subject): WorkItem | undefined;
  machine(): Machine;
  /** Somebody asks for a run. `change`: because there is a new content. */
  request(subject: Subject, change: boolean): void;
  sweepOn(machine: Machine): void;
  readonly violate: (what: string) => void;
}

const calm: Script = { steps: 1, stepMs: 500, applyMs: 20, dueInMs: undefined, throws: false };
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const machineCount = 3;

export function startSimulation(seed: number, mutation: Mutation, traced: boolean): Simulation {
  const lines: string[] = [];
  const violations: string[] = [];
  const chance = random(seed);
  const time = timeline(1_800_000_000_000);
  const startedAt = time.now();
  const world: World = {
    time,
    chance,
    faulty: true,
    trace: (line) => {
      if (traced) lines.push(`${((time.now() - startedAt) / 1000).toFixed(3)} ${line()}`);
    },
  };
  const table: Table = { rows: new Map(), writes: 0 };
  const subjects = ["a", "b", "c"].map(newSubject);
  const bySubject = new Map(subjects.map((subject) => [formatWorkKey(subject.key), subject]));
  const fleet: Machine[] = [];
  const deps = new Map<Machine, RunnerDeps>();
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

  const boot = (): Machine => {
    machines += 1;
    const machine = startMachine(`m${machines}`, world);
    const own: RunnerDeps = {
      items: itemsSeenFrom(machine, table, (item, before) => onPut(machine, item, before), world),
      wakeUps: wakeUps.seenFrom(machine),
      deadLetters: {
        send: (letter, signal) =>
          effect(machine, "dead letter", () => void (subjectOf(letter.key).letters += 1), signal, world),
      },
      clock: machine.clock,
      log: traced
        ? {
            ...silent,
            warn: (message, fields) => world.trace(() => `${machine.name} warns: ${message} ${JSON.stringify(fields)}`),
          }
        : silent,
      rules,
      newHolder: () => `holder-${(holders += 1)}`,
      inputOf: (key, signal) => effect(machine, "input", () => `content ${subjectOf(key).content}`, signal, world),
      onPoisoned: (run) =>
        applyTo(machine, run, 20, (subject) => {
          subject.announced += 1;
        }),
    };
    deps.set(machine, mutation.deps?.(own) ?? own);
    return machine;
  };

  const machine = (): Machine => {
    const index = chance.int(0, machineCount - 1);
    const found = fleet[index];
    if (found?.alive() === true && !found.signal.aborted) return found;
    return (fleet[index] = boot());
  };
  const depsOf = (on: Machine): RunnerDeps => {
    const own = deps.get(on);
    if (own === undefined) throw new Error("no such machine");
    return own;
  };

  const onPut = (on: Machine, item: WorkItem, before: WorkItem | undefined): void => {
    const subject = subjectOf(item.key);
    const skewMs = on.clock.now() - time.now();
    world.trace(() => `${on.name} puts ${subject.key.name} ${describe(item)}`);
    const undirty = before !== undefined && before.requested === before.started && before.lease === undefined;
    const begins = item.lease?.renewals === 0 && before?.lease === undefined;
    // Only clocks that are wrong, by two skews at most, can bring a due time forward.
    if (begins && undirty && subject.dueAt !== undefined && subject.dueAt - time.now() > 601_000) {
      violate(`${subject.key.name} ran ${subject.dueAt - time.now()} ms before it was due`);
    }
    subject.dueAt = item.dueAt === undefined ? undefined : item.dueAt - skewMs;
  };

  /** A write to the cluster: checked and sent in one go, on its way for as long as a request may take. */
  const applyTo = (on: Machine, run: Run, latencyMs: number, land: (subject: Subject) => void): Promise<void> => {
    run.assertLease();
    const subject = subjectOf(run.key);
    return effect(
      on,
      "apply",
      () => {
        const item = table.rows.get(formatWorkKey(run.key));
        world.trace(() => `${on.name} apply of ${run.key.name} under token ${run.fence.token} lands`);
        if (item?.token !== run.fence.token)
          violate(
            `a write to ${run.key.name} under token ${run.fence.token} landed after token ${item?.token} had begun`,
          );
        land(subject);
      },
      run.signal,
      world,
      { latencyMs, cancels: true },
    );
  };

  const save = (on: Machine, run: Run): Promise<void> =>
    effect(
      on,
      "save",
      () => {
        (mutation.fence ?? fencedWrite)(table, run.key, run.fence.token);
        if (table.rows.get(formatWorkKey(run.key))?.token !== run.fence.token)
          violate(`a write to the table of ${run.key.name} under an old token went through`);
      },
      run.signal,
      world,
    );

  const flowOn =
    (on: Machine): Flow =>
    async (run) => {
      const subject = subjectOf(run.key);
      const startedAt = time.now();
      subject.runs += 1;
      subject.runningSince = startedAt;
      subject.runner = on;
      subject.startedAt = startedAt;
      world.trace(() => `${on.name} runs ${run.key.name} under token ${run.fence.token}`);
      try {
        const { content, nature } = await effect(on, "read", () => ({ ...subject }), run.signal, world);
        const script = subject.script();
        if (nature === "kills") on.crash();
        for (let step = 0; step < script.steps; step += 1) {
          if (script.stepMs > 0) await on.clock.sleep(script.stepMs, run.signal);
          if (nature === "throws" || (script.throws && step === script.steps - 1))
            throw new Error("the flow has a bug");
          await applyTo(on, run, script.applyMs, () => {
            subject.applied = content;
          });
          await save(on, run);
          if (step === 1 && (await run.superseded())) return { dueInMs: undefined, outcome: "superseded" };
        }
        subject.servedFrom = Math.max(subject.servedFrom, startedAt);
        return { dueInMs: script.dueInMs, outcome: "applied", memo: { content } };
      } finally {
        world.trace(() => `${on.name} ends its run of ${run.key.name} under token ${run.fence.token}`);
        subject.endedAt = time.now();
        if (subject.startedAt === startedAt) subject.runningSince = undefined;
      }
    };

  const deliver = (receipt: Receipt): void => {
    const on = machine();
    on.resume(() => {
      world.trace(() => `${on.name} receives ${JSON.stringify(receipt.wakeUp)}`);
      const extend = (visibilityMs: number, signal: AbortSignal) =>
        effect(on, "extend", () => receipt.extend(visibilityMs), signal, world);
      handleWakeUp({ wakeUp: receipt.wakeUp, extend }, flowOn(on), depsOf(on), on.signal).then(
        () => void effect(on, "delete", () => receipt.delete(), on.signal, world).catch(() => {}),
        (error: unknown) => world.trace(() => `${on.name} fails to handle: ${String(error)}`),
      );
    });
  };
  const wakeUps: Queue = queue(deliver, world);

  const simulation: Simulation = {
    sweeping: true,
    world,
    table,
    subjects,
    violations,
    lines,
    violate,
    machine,
    item: (subject) => table.rows.get(formatWorkKey(subject.key)),
    request(subject, change) {
      const on = machine();
      on.resume(() => {
        if (change) subject.content += 1;
        const askedAt = time.now();
        const { content } = subject;
        world.trace(() => `${on.name} requests ${subject.key.name}, content ${content}`);
        requestReconcile(subject.key, "test", depsOf(on), on.signal).then(
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
    sweepOn(on) {
      on.resume(() => {
        if (!simulation.sweeping) return;
        world.trace(() => `${on.name} sweeps`);
        (mutation.sweep ?? sweep)(depsOf(on), on.signal).catch(() => {});
      });
    },
  };
  return simulation;
}

function newSubject(name: string): Subject {
  const key = { cluster: "home", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", namespace: "apps", name };
  return {
    key,
    content: 0,
    nature: "good",
    applied: 0,
    asked: 0,
    askedContent: 0,
    servedFrom: 0,
    runs: 0,
    runningSince: undefined,
    runner: undefined,
    startedAt: 0,
    endedAt: 0,
    announced: 0,
    letters: 0,
    dueAt: undefined,
    script: () => calm,
  };
}

function describe({ version, requested, started, handled, token, lease, attempts, phase, dueAt }: WorkItem): string {
  const held = lease === undefined ? "free" : `held ${token}.${lease.renewals}`;
  const due = dueAt === undefined ? "" : ` due ${new Date(dueAt).toISOString().slice(11, 19)}`;
  return `v${version} ${requested}/${started}/${handled} ${held} attempts ${attempts} ${phase}${due}`;
}
