import { reconcileHandler } from "../../../../functions/reconcile.ts";
import { backOffMs } from "../../../../lib/core/failure.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import type { ClusterState, ClusterStates } from "../../../../lib/core/ports/cluster-states.ts";
import type { Flow } from "../../../../lib/core/ports/run.ts";
import type { WakeUp } from "../../../../lib/core/ports/wake-ups.ts";
import { overdueAt, type WorkItem, type WorkItems } from "../../../../lib/core/ports/work-items.ts";
import { GateClosed } from "../../../../lib/core/ports/write-gate.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { type ClusterLimits, clusterLimits } from "../../../../lib/queue/cluster-limits.ts";
import { clusterViews } from "../../../../lib/queue/cluster-views.ts";
import { requestReconcile } from "../../../../lib/queue/request-reconcile.ts";
import { rules } from "../../../../lib/queue/rules.ts";
import { runPlaces } from "../../../../lib/queue/run-places.ts";
import { sweep } from "../../../../lib/queue/sweep.ts";
import { leaseMs } from "../../../../lib/queue/timing.ts";
import { keyOf, never } from "../../../contract/state-back-end.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { effect, type Machine, startMachine, type World } from "../simulator/machines.ts";
import { random } from "../simulator/random.ts";
import { timeline } from "../simulator/timeline.ts";

/** A cluster of a story, which the story changes as it goes. */
export interface StoryCluster {
  readonly id: string;
  readonly maxRuns: number;
  answers: boolean;
  /** Why its gate is closed, if it is. */
  refused: string | undefined;
  /** How long a run takes where the cluster answers. */
  runMs: number;
}

/** One run of an object, in true time. */
export interface StoryRun {
  readonly cluster: string;
  readonly name: string;
  readonly on: Machine;
  readonly from: number;
  to: number | undefined;
}

interface Process {
  readonly machine: Machine;
  readonly limits: ClusterLimits;
  readonly handler: ReturnType<typeof reconcileHandler>;
  free: number;
}

interface Message {
  readonly wakeUp: WakeUp;
  readonly id: number;
}

/** How long a cluster that is away keeps its callers waiting. */
const noAnswerMs = 10_000;
const minuteMs = 60_000;

/**
 * The functions on a queue without fair groups, the worst that there is, in virtual time: processes with clocks of their own, wrong by
 * up to five minutes, each with so many places for messages.
 */
export function clusterWorld(
  clusters: readonly StoryCluster[],
  { seed = 1, processes = 5, places = 10 }: { seed?: number; processes?: number; places?: number } = {},
) {
  const time = timeline(Date.UTC(2026, 10, 22, 12));
  const world: World = {
    time,
    chance: random(seed),
    faulty: false,
    tableAway: false,
    dropsOfDead: true,
    trace: () => undefined,
  };
  const byId = new Map(clusters.map((cluster) => [cluster.id, cluster]));
  const clusterOf = (id: string): StoryCluster => {
    const found = byId.get(id);
    if (found === undefined) throw new Error(`no cluster ${id}`);
    return found;
  };
  const rows = new Map<string, WorkItem>();
  const states = new Map<string, ClusterState>();
  const runs: StoryRun[] = [];
  const log = recordedLog();
  const metrics = recordedMetrics();
  const visible: Message[] = [];
  const started: Process[] = [];
  const counts = { statesAway: false, reads: 0, writes: 0, messages: 0 };

  const itemsOn = (machine: Machine): WorkItems => ({
    get: (key, signal) => effect(machine, "get", () => rows.get(formatWorkKey(key)), signal, world),
    put: (item, signal) =>
      effect(
        machine,
        "put",
        () => {
          const id = formatWorkKey(item.key);
          if ((rows.get(id)?.version ?? 0) !== item.version - 1) return "conflict";
          rows.set(id, item);
          return "stored";
        },
        signal,
        world,
      ),
    async *overdue(now, isWanted, signal) {
      const found = [...rows.values()].filter(
        (item) => isWanted(item.key.cluster) && (overdueAt(item) ?? Number.POSITIVE_INFINITY) <= now,
      );
      yield await effect(machine, "overdue", () => ({ items: found, unreadable: [] }), signal, world);
    },
  });

  const statesOn = (machine: Machine): ClusterStates => {
    const stateOf = (id: string): ClusterState => states.get(id) ?? { hold: undefined, busy: [] };
    const call = <Result>(count: "reads" | "writes", apply: () => Result, signal: AbortSignal): Promise<Result> => {
      counts[count] += 1;
      return effect(machine, "cluster states", apply, signal, world, { cutOff: counts.statesAway });
    };
    const change = (id: string, next: (state: ClusterState) => Partial<ClusterState>, signal: AbortSignal) =>
      call("writes", () => void states.set(id, { ...stateOf(id), ...next(stateOf(id)) }), signal);
    const others = ({ busy }: ClusterState, process: string) => busy.filter((one) => one.process !== process);
    return {
      read: (id, signal) => call("reads", () => stateOf(id), signal),
      hold: (id, hold, signal) => change(id, () => ({ hold }), signal),
      release: (id, signal) => change(id, () => ({ hold: undefined }), signal),
      setBusy: (id, busy, signal) => change(id, (state) => ({ busy: [...others(state, busy.process), busy] }), signal),
      removeBusy: (id, process, signal) => change(id, (state) => ({ busy: others(state, process) }), signal),
    };
  };

  const ask = async (machine: Machine, id: string, signal: AbortSignal): Promise<void> => {
    const { answers } = clusterOf(id);
    await effect(machine, "ask", () => undefined, signal, world, { latencyMs: answers ? 20 : noAnswerMs });
    if (!answers) throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
  };

  const flowOn =
    (machine: Machine): Flow =>
    async ({ key: { cluster, name }, carried, signal }) => {
      const run: StoryRun = { cluster, name, on: machine, from: time.now(), to: undefined };
      runs.push(run);
      const { answers, runMs } = clusterOf(cluster);
      try {
        await machine.clock.sleep(answers ? runMs : noAnswerMs, signal);
        if (answers) return { outcome: "applied", dueInMs: undefined };
        const tries = typeof carried?.["tries"] === "number" ? carried["tries"] : 0;
        return { outcome: "unreachable", dueInMs: backOffMs(tries), carried: { tries: tries + 1 } };
      } finally {
        run.to = time.now();
      }
    };

  const send = (wakeUp: WakeUp, delayMs: number): void => {
    counts.messages += 1;
    const message = { wakeUp, id: counts.messages };
    time.in(delayMs, () => {
      visible.push(message);
      deliver();
    });
  };

  const deliver = (): void => {
    for (const process of started) {
      while (process.machine.alive() && process.free > 0) {
        const message = visible.shift();
        if (message === undefined) return;
        handle(message, process);
      }
    }
  };

  const handle = ({ wakeUp, id }: Message, process: Process): void => {
    process.free -= 1;
    const record = { messageId: String(id), receiptHandle: String(id), body: JSON.stringify(wakeUp) };
    // What a process that dies had in hand comes back when its visibility ends.
    let isDone = false;
    const comesBack = (): void => {
      if (isDone) return;
      if (process.machine.alive()) time.in(leaseMs, comesBack);
      else send(wakeUp, 0);
    };
    time.in(leaseMs, comesBack);
    process.machine.resume(() => {
      void process.handler({ Records: [record] }, process.machine.signal).then(({ batchItemFailures }) => {
        isDone = true;
        process.free += 1;
        if (batchItemFailures.length > 0) send(wakeUp, leaseMs);
        deliver();
      });
    });
  };

  const queueOn = (machine: Machine) => ({
    items: itemsOn(machine),
    wakeUps: {
      send: (wakeUp: WakeUp, delayMs: number, signal: AbortSignal) =>
        effect(machine, "send", () => send(wakeUp, delayMs), signal, world),
    },
    clock: machine.clock,
    log,
    rules,
  });

  const start = (name: string): Process => {
    const machine = startMachine(name, world);
    const queue = queueOn(machine);
    const limits = clusterLimits({
      views: clusterViews({ states: statesOn(machine), clock: machine.clock, log }),
      clock: machine.clock,
      log,
      metrics,
      process: name,
      maxRuns: (id) => clusterOf(id).maxRuns,
      ask: (id, signal) => ask(machine, id, signal),
      random: () => world.chance.next(),
    });
    let holders = 0;
    const handler = reconcileHandler({
      ...queue,
      deadLetters: { send: async () => undefined },
      runPlaces: runPlaces(machine.clock),
      newHolder: () => `${name}-${(holders += 1)}`,
      inputOf: async () => "input",
      onParked: async () => undefined,
      limits,
      metrics,
      sweepCluster: async () => undefined,
      lookAtObject: async () => undefined,
      clusters: { get: (id) => ({ gate: { enter: async () => enter(id) } }) },
      flowOf: () => flowOn(machine),
      extendVisibility: async () => undefined,
    });
    const process = { machine, limits, handler, free: places };
    started.push(process);
    return process;
  };
  const enter = (id: string): void => {
    const { refused } = clusterOf(id);
    if (refused !== undefined) throw new GateClosed(refused);
  };
  for (let number = 1; number <= processes; number += 1) start(`p${number}`);

  const pick = (): Process => world.chance.pick(started.filter(({ machine }) => machine.alive()));
  /** As the schedule does: the table once, then the probe of each cluster, by a process of its own. */
  const sweepAll = (): void => {
    const { machine, limits } = pick();
    machine.resume(() => {
      void limits
        .budgets([...byId.keys()], never)
        .then((budgets) => sweep(queueOn(machine), never, budgets))
        .catch(() => undefined);
    });
    for (const id of byId.keys()) {
      const { machine: on, limits: of } = pick();
      const work = async (signal: AbortSignal): Promise<string | undefined> => {
        if (clusterOf(id).refused === undefined) await ask(on, id, signal);
        return clusterOf(id).refused;
      };
      on.resume(() => void of.probe(id, work, never).catch(() => undefined));
    }
  };
  const world_ = {
    time,
    clusters: byId,
    rows,
    states,
    runs,
    log,
    metrics,
    counts,
    processes: started,
    sweeps: true,
    start,
    item: (key: WorkKey) => rows.get(formatWorkKey(key)),
    put: (item: WorkItem) => rows.set(formatWorkKey(item.key), item),
    request(cluster: string, name: string): void {
      const { machine } = pick();
      machine.resume(() => {
        const key = { ...keyOf(name), cluster };
        void requestReconcile(key, "test", queueOn(machine), never).catch(() => undefined);
      });
    },
    /** Lets so much time pass. */
    pass: (ms: number) => time.play(time.now() + ms),
    /** The most runs of a cluster at the same time since a moment. */
    mostAtOnce(cluster: string, since = 0): number {
      const of = runs.filter((run) => run.cluster === cluster && run.from >= since);
      const ends = of.flatMap(({ to }) => to ?? []).toSorted((a, b) => a - b);
      // They are in the order in which they began.
      return Math.max(0, ...of.map(({ from }, begun) => begun + 1 - ends.filter((end) => end <= from).length));
    },
  };
  const everyMinute = (): void => {
    if (world_.sweeps) sweepAll();
    time.in(minuteMs, everyMinute);
  };
  time.in(1_000, everyMinute);
  return world_;
}

export function storyCluster(id: string, of: Partial<StoryCluster> = {}): StoryCluster {
  return { id, maxRuns: 20, answers: true, refused: undefined, runMs: 500, ...of };
}
