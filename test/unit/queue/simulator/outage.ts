import { maxAttempts } from "../../../../lib/queue/timing.ts";
import type { Simulation } from "./simulation.ts";
import type { Subject } from "./subject.ts";

/** One story in so many: it takes as much virtual time as all the rest. */
const oneIn = 20;
const runsWithinMs = 1_200_000;

/**
 * Nothing is wrong but the table, which goes away whenever a run has begun and comes back when that run has ended, or has lost
 * its lease. However often that is, it is no fault of the object.
 */
export async function outage(simulation: Simulation, seed: number): Promise<void> {
  const [subject] = simulation.subjects;
  if (subject === undefined || seed % oneIn !== 5) return;
  const { world, violate } = simulation;
  const { time, chance } = world;
  world.faulty = false;
  // What froze last thaws, and calls that were under way end.
  await time.play(time.now() + 330_000);
  const isLong = chance.chance(0.5);
  for (let outages = 0; outages < maxAttempts + 3; outages += 1) {
    subject.script = () => ({
      steps: isLong ? 20 : 1,
      stepMs: isLong ? 5_000 : chance.int(100, 5_000),
      waitMs: 0,
      applyMs: 20,
      dueInMs: undefined,
      throws: false,
      // A write to the state would find the outage itself, and end the run for it.
      saves: false,
    });
    if (!(await isRunning(subject, simulation))) return violate("an object is not run any more, for the table's fault");
    world.tableAway = true;
    await time.play(time.now() + (isLong ? chance.int(50_000, 55_000) : chance.int(20_000, 55_000)));
    world.tableAway = false;
    // The longest pause between two tries.
    await time.play(time.now() + 5_500);
  }
}

/** Asks for a run of what is there already, since a new content would begin a new count, and waits until it has begun. */
async function isRunning(subject: Subject, simulation: Simulation): Promise<boolean> {
  const { time } = simulation.world;
  // A request in the middle of a run would end that early, and well.
  if (subject.runningSince !== undefined) return true;
  const before = subject.runs;
  simulation.request(subject, false);
  await time.play(time.now() + runsWithinMs, () => subject.runs > before);
  return subject.runs > before;
}
