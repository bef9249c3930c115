import type { Clock } from "../core/ports/clock.ts";
import type { Log } from "../core/ports/log.ts";
import type { DeadLetters, WakeUps } from "../core/ports/wake-ups.ts";
import type { WorkItems } from "../core/ports/work-items.ts";
import type { Run } from "../core/run.ts";
import type { WorkKey } from "../core/work-key.ts";
import type { ProcessLock } from "./process-lock.ts";
import type { Rules } from "./rules/rules.ts";

/** What every part of the queue needs. */
export interface QueueDeps {
  readonly items: WorkItems;
  readonly wakeUps: WakeUps;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: Rules;
}

/** What it takes to run flows besides. */
export interface RunnerDeps extends QueueDeps {
  readonly deadLetters: DeadLetters;
  /** That of this process. */
  readonly processLock: ProcessLock;
  /** A name that no other lease has and that cannot be guessed: as random as a UUID. */
  newHolder(): string;
  /**
   * What a run of this object depends on, as short text without secrets: its uid, generation, requested time and its
   * source's revision, for example. Called only for objects whose runs did not end, and the only thing that brings a
   * parked one back.
   */
  inputOf(key: WorkKey, signal: AbortSignal): Promise<string>;
  /** Tells the object's user that it is parked: Ready=False, reason Poisoned. Called under the object's lease. */
  onPoisoned(run: Run, message: string): Promise<void>;
}
