import type { Cluster } from "../../../../lib/core/ports/cluster.ts";
import { type Fence, LeaseLost } from "../../../../lib/core/ports/fence.ts";
import type { FlowResult, Run } from "../../../../lib/core/ports/run.ts";
import type { WorkItem } from "../../../../lib/core/ports/work-items.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { leasedCluster } from "../../../../lib/gate/leased-cluster.ts";
import { noHome } from "../../../doubles/no-cluster.ts";
import { effect, type Machine, type World } from "./machines.ts";
import type { fencedWrite, Passage, Table } from "./services.ts";
import type { Latency, Subject } from "./subject.ts";

/** One handler at work on one message. */
export interface Handling {
  readonly machine: Machine;
  /** The name under which it takes leases; the simulator tells handlers apart by it, whatever their tokens say. */
  holder: string;
}

/** What handlers work on, and who watches them. */
export interface Ground {
  readonly world: World;
  readonly table: Table;
  readonly fence: typeof fencedWrite;
  readonly violate: (what: string) => void;
  /** As the cluster's adapter promises; else the lease is asked at the call alone. */
  readonly asksBeforeSend: boolean;
  /** Where the table is a real one: the write itself, which checks the fence. */
  readonly save?: ((machine: Machine, fence: Fence, passage: Passage) => Promise<void>) | undefined;
  subjectOf(key: WorkKey): Subject;
}

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "content" } };

/**
 * A write to the cluster, by the code that every flow's writes go through, over an adapter that keeps its promise: what has to
 * be awaited is awaited first, and right before the request is sent the lease is asked.
 */
export async function applyTo(
  { machine, holder }: Handling,
  run: Run,
  { waitMs, applyMs }: Latency,
  ground: Ground,
  land: (subject: Subject) => void,
): Promise<void> {
  const { world, violate } = ground;
  const { name } = run.key;
  const subject = ground.subjectOf(run.key);
  const arrive = (): void => {
    world.trace(() => `${machine.name} apply of ${name} under token ${run.fence.token} lands`);
    if (subject.holder !== holder) violate(`a write to ${name} landed after a successor of its sender had begun`);
    land(subject);
  };
  const apply: Cluster["apply"] = async (manifest, { beforeSend }, signal) => {
    if (waitMs > 0) await effect(machine, "discovery", () => {}, signal, world, { latencyMs: waitMs });
    if (ground.asksBeforeSend) beforeSend?.();
    await effect(machine, "apply", arrive, signal, world, { latencyMs: applyMs, cancels: true });
    return { object: { ...manifest, metadata: { ...manifest.metadata, uid: "uid" } }, created: false, warnings: [] };
  };
  await leasedCluster({ ...noHome, apply }, run).apply(configMap, { manager: "sluice", force: true }, run.signal);
}

/** A write to the state under the run's fence. */
function save({ machine, holder }: Handling, run: Run, ground: Ground): Promise<void> {
  const { world } = ground;
  const { signal } = run;
  const watch = (): void => {
    if (ground.subjectOf(run.key).holder !== holder) {
      ground.violate(`a write to the table of ${run.key.name} went through after a successor of its sender had begun`);
    }
  };
  const call = <Result>(name: string, send: () => Result | Promise<Result>): Promise<Result> =>
    effect(machine, name, send, signal, world, { cutOff: world.tableAway || machine.isCutOff() });
  const landed = (): void => {
    watch();
    // The worst moment: others see the write, and what it takes along with it is still to be done.
    if (world.faulty && world.chance.chance(0.2)) machine.freeze(world.chance.int(60_000, 300_000));
  };
  if (ground.save !== undefined) return ground.save(machine, run.fence, { signal, call, landed });
  return call("save", () => {
    const item: WorkItem | undefined = ground.table.rows.get(formatWorkKey(run.key));
    ground.fence(item, run.fence);
    watch();
  });
}

/** As `retryOutages` has it for every flow: a state that does not answer is waited out. */
async function isSaved(handling: Handling, run: Run, ground: Ground): Promise<boolean> {
  try {
    await save(handling, run, ground);
    return true;
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof LeaseLost) throw error;
    return false;
  }
}

/** The flow: reads what should be, and writes it to the cluster in the steps of the subject's script. */
export async function reconcile(handling: Handling, run: Run, ground: Ground): Promise<FlowResult> {
  const { world } = ground;
  const { machine } = handling;
  const { time } = world;
  const subject = ground.subjectOf(run.key);
  const startedAt = time.now();
  subject.runs += 1;
  subject.runner = machine;
  subject.runningSince = startedAt;
  world.trace(() => `${machine.name} runs ${run.key.name} under token ${run.fence.token}`);
  try {
    const { content, nature } = await effect(machine, "read", () => ({ ...subject }), run.signal, world);
    const script = subject.script();
    if (nature === "kills") machine.crash();
    for (let step = 0; step < script.steps; step += 1) {
      if (script.stepMs > 0) await machine.clock.sleep(script.stepMs, run.signal);
      if (nature === "throws" || (script.throws && step === script.steps - 1)) throw new Error("the flow has a bug");
      await applyTo(handling, run, script, ground, () => {
        subject.applied = content;
      });
      if (script.saves && !(await isSaved(handling, run, ground))) return { dueInMs: 1_000, outcome: "unreachable" };
      if (step === 1 && (await run.superseded())) return { dueInMs: undefined, outcome: "superseded" };
    }
    subject.servedFrom = Math.max(subject.servedFrom, startedAt);
    return { dueInMs: script.dueInMs, outcome: "applied", carried: { content } };
  } finally {
    world.trace(() => `${machine.name} ends its run of ${run.key.name} under token ${run.fence.token}`);
    if (subject.runningSince === startedAt) subject.runningSince = undefined;
  }
}
