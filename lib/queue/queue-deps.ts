import type { Clock } from "../core/ports/clock.ts";
import type { EventSink } from "../core/ports/event-sink.ts";
import type { Log } from "../core/ports/log.ts";
import type { Run } from "../core/ports/run.ts";
import type { DeadLetters, WakeUps } from "../core/ports/wake-ups.ts";
import type { WorkItems } from "../core/ports/work-items.ts";
import type { WorkKey } from "../core/work-key.ts";
import type { Rules } from "./rules.ts";
import type { RunPlaces } from "./run-places.ts";

/** What every part of the queue needs. */
export interface QueueDeps {
  readonly items: WorkItems;
  readonly wakeUps: WakeUps;
  readonly clock: Clock;
  readonly log: Log;
  readonly rules: Rules;
  /** Where the Events that runs record go too; absent where nothing sends them. */
  readonly events?: EventSink;
}

/** What the queue needs in addition to run flows. */
export interface RunnerDeps extends QueueDeps {
  readonly deadLetters: DeadLetters;
  /** The places of this process: all its runs share them. */
  readonly runPlaces: RunPlaces;
  /** A name that no other lease has and that cannot be guessed: as random as a UUID. */
  newHolder(): string;
  /**
   * The input of this object's run as a short text without secrets: its uid, generation, requested time and its source's
   * revision, for example. Called only for objects whose runs did not end. A parked object runs again only if this changes.
   */
  inputOf(key: WorkKey, signal: AbortSignal): Promise<string>;
  /** Tells the object's user that it is parked: Ready=False, reason Poisoned. Called under the object's lease. */
  onParked(run: Run, message: string): Promise<void>;
}
