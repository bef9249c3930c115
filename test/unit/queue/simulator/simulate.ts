import { chaos } from "./chaos.ts";
import { heal } from "./heal.ts";
import { hintBurst, isOnOneClock, oneClock } from "./hint-burst.ts";
import { type Home, openHome } from "./home.ts";
import { dueOnSteppedClock, household, restarts, steppedClock } from "./home-stories.ts";
import { outage } from "./outage.ts";
import { pile, pileUp } from "./pile-up.ts";
import { probe } from "./probes.ts";
import { crowd, sharedDeath } from "./shared-death.ts";
import { type Cast, type Mutation, type Simulation, startSimulation } from "./simulation.ts";

export interface Outcome {
  /** Empty where the protocol kept all its promises. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

type Act = (simulation: Simulation, seed: number) => Promise<void>;

interface Story {
  readonly cast?: Cast;
  readonly acts: readonly Act[];
}

/**
 * One whole story, decided by the seed: minutes in which everything goes wrong; in some a time in which the table is away again
 * and again; one in which everything has to come right by itself; and a probe of what must happen at once. One of twenty ends with
 * a burst of hints instead. One of forty is of
 * objects that share a process with one that kills it, one of sixty of more objects than a page of a sweep has, and one of
 * forty plays at home: on the state file, with one process after another.
 */
export async function simulate(seed: number, mutation: Mutation = {}, traced = false): Promise<Outcome> {
  // The one turn of the event loop that a story takes, so that the test runner is not shut out.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  // Where the table or the queue is a real one, nothing plays at home.
  const isReal = mutation.table !== undefined || mutation.queue !== undefined;
  using home = seed % 40 === 7 && !isReal ? openHome(mutation.queueClock) : undefined;
  const { cast, acts } = storyOf(seed, home);
  const simulation = startSimulation(seed, mutation, traced, cast);
  for (const act of acts) {
    await act(simulation, seed);
    if (simulation.violations.length > 0) break;
  }
  return { violations: simulation.violations, trace: simulation.lines };
}

/** Whether the story of this seed is a burst of hints. */
export const isHintBurst = (seed: number): boolean => seed % 20 === 3;

function storyOf(seed: number, home: Home | undefined): Story {
  if (home !== undefined)
    return { cast: { ...household, home }, acts: [chaos, heal, steppedClock, dueOnSteppedClock, restarts] };
  if (seed % 40 === 9) return { cast: crowd, acts: [sharedDeath] };
  if (seed % 60 === 18) return { cast: pile, acts: [pileUp] };
  if (isHintBurst(seed)) return { ...(isOnOneClock(seed) ? { cast: oneClock } : {}), acts: [chaos, heal, hintBurst] };
  return { acts: [chaos, outage, heal, probe] };
}
