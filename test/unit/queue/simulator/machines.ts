import type { Clock } from "../../../../lib/core/ports/clock.ts";
import { Shutdown } from "../../../../lib/queue/run-under-lease.ts";
import type { Random } from "./random.ts";
import type { Timeline } from "./timeline.ts";

const maxSkewMs = 300_000;
/** The time limit of a call to the table or the queue with all its tries (`callAws`), and of a request to a cluster. */
export const maxCallMs = 15_000;

/** What processes run on: a wall clock that is set, and a monotonic one that may stop while all of it stands still. */
export interface Host {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** For how long it stands still from now; 0 where it runs. */
  frozenForMs(): number;
  freeze(ms: number): void;
  /** Sets the wall clock forward or back, where this host's may be set. Answers by how much. */
  stepClock(ms: number): number;
}

/** A process with clocks of its own. What runs on it dies, freezes and thaws with it. */
export interface Machine {
  readonly name: string;
  readonly clock: Clock;
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
  alive(): boolean;
  /** Calls back as soon as the machine can run: never, where it is dead. */
  resume(happen: () => void): void;
  crash(): void;
  freeze(ms: number): void;
  /** For so long it does not reach the table, only everything else. */
  cutOff(ms: number): void;
  isCutOff(): boolean;
  /** Sets the wall clock forward or back, where this machine's may be set. */
  stepClock(ms: number): void;
  /** SIGTERM: the process has five seconds. */
  terminate(): void;
}

/** What a machine asks of a service: it takes time, and may go wrong in every way. */
export interface EffectOptions {
  readonly latencyMs?: number;
  /** Where true, an aborted call has no effect any more; nor has, where connections end with their process, that of a dead one. */
  readonly cancels?: boolean;
  /** If true, no service is reached. */
  readonly cutOff?: boolean;
}

export interface World {
  readonly time: Timeline;
  readonly chance: Random;
  /** Whether faults happen. */
  faulty: boolean;
  /** If true, the table is not reached, but every other service is. */
  tableAway: boolean;
  /** Where true, a request of a process that is killed is dropped with its connection; else it may still have its effect. */
  readonly dropsOfDead: boolean;
  trace(line: () => string): void;
}

let never: Promise<never> | undefined;

export function startHost({ time, chance }: Pick<World, "time" | "chance">): Host {
  // A clock that is set and one that stands still in a freeze are two faults: the protocol bears either, not both at once.
  const stopsInFreeze = chance.chance(0.5);
  const bootedAt = time.now();
  let skewMs = chance.int(-maxSkewMs, maxSkewMs);
  let frozenUntil = 0;
  let frozenMs = 0;
  return {
    clock: {
      now: () => time.now() + skewMs,
      monotonic: () => time.now() - bootedAt - (stopsInFreeze ? frozenMs : 0),
    },
    frozenForMs: () => Math.max(0, frozenUntil - time.now()),
    freeze(ms) {
      if (time.now() < frozenUntil) return;
      frozenUntil = time.now() + ms;
      frozenMs += ms;
    },
    stepClock(ms) {
      if (stopsInFreeze) return 0;
      const before = skewMs;
      skewMs = Math.max(-maxSkewMs, Math.min(maxSkewMs, skewMs + ms));
      return skewMs - before;
    },
  };
}

/** A process on a host of its own, or on one that outlives it. */
export function startMachine(name: string, world: World, host: Host = startHost(world)): Machine {
  const { time } = world;
  const control = new AbortController();
  let cutOffUntil = 0;
  let alive = true;

  const resume = (happen: () => void): void => {
    if (!alive) return;
    const frozenForMs = host.frozenForMs();
    if (frozenForMs === 0) {
      time.stir();
      happen();
    } else time.in(frozenForMs, () => resume(happen));
  };

  const clock: Clock = {
    ...host.clock,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const abort = () => reject(signal.reason);
        signal.addEventListener("abort", abort, { once: true });
        time.in(ms, () =>
          resume(() => {
            signal.removeEventListener("abort", abort);
            resolve();
          }),
        );
      }),
  };

  return {
    name,
    clock,
    signal: control.signal,
    alive: () => alive,
    resume,
    crash() {
      if (alive) world.trace(() => `${name} crashes`);
      alive = false;
    },
    freeze(ms) {
      if (!alive || host.frozenForMs() > 0) return;
      world.trace(() => `${name} freezes for ${ms} ms`);
      host.freeze(ms);
    },
    cutOff(ms) {
      world.trace(() => `${name} does not reach the table for ${ms} ms`);
      cutOffUntil = Math.max(cutOffUntil, time.now() + ms);
    },
    isCutOff: () => time.now() < cutOffUntil,
    stepClock(ms) {
      const steppedMs = host.stepClock(ms);
      world.trace(() => `${name} steps its clock by ${steppedMs} ms`);
    },
    terminate() {
      resume(() => {
        world.trace(() => `${name} is told to end`);
        control.abort(new Shutdown("the process ends"));
      });
      time.in(5_000, () => {
        alive = false;
      });
    },
  };
}

/** Does something in the world on behalf of a machine, with whatever goes wrong on the way there and back. */
export function effect<Result>(
  machine: Machine,
  name: string,
  apply: () => Result | Promise<Result>,
  signal: AbortSignal,
  world: World,
  options: EffectOptions = {},
): Promise<Result> {
  const { time, chance } = world;
  const fate = options.cutOff === true ? 0.01 : world.faulty ? chance.next() : 1;
  // Before the call leaves: nothing happened.
  if (fate < 0.002) machine.crash();
  if (!machine.alive()) return (never ??= new Promise(() => {}));
  const latencyMs =
    options.latencyMs ?? (world.faulty && chance.chance(0.03) ? chance.int(100, maxCallMs) : chance.int(1, 30));
  const thereMs = chance.int(0, latencyMs);
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    const answer = (settle: () => void) =>
      time.in(latencyMs - thereMs, () =>
        machine.resume(() => {
          signal.removeEventListener("abort", abort);
          settle();
        }),
      );
    time.in(thereMs, () => {
      if (options.cancels === true && (signal.aborted || (world.dropsOfDead && !machine.alive()))) return;
      if (fate >= 0.01 && fate < 0.04) {
        world.trace(() => `${machine.name}: ${name} fails before`);
        return answer(() => reject(new Error(`${name}: no answer`)));
      }
      const arrived = (result: Result): void => {
        if (fate >= 0.04 && fate < 0.07) {
          world.trace(() => `${machine.name}: ${name} succeeds and fails`);
          return answer(() => reject(new Error(`${name}: no answer`)));
        }
        // After it was carried out, before its answer arrived.
        if (fate >= 0.002 && fate < 0.006) return machine.crash();
        if (fate >= 0.07 && fate < 0.075) machine.freeze(chance.int(20_000, 120_000));
        answer(() => resolve(result));
      };
      const refused = (error: unknown): void => answer(() => reject(error));
      try {
        const result = apply();
        if (result instanceof Promise) time.hold(result.then(arrived, refused));
        else arrived(result);
      } catch (error) {
        refused(error);
      }
    });
  });
}
