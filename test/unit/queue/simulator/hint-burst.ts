import type { Simulation } from "./simulation.ts";
import { calm, type Subject } from "./subject.ts";

/** Of a message and of the calls around it, while nothing goes wrong. */
const latencyMs = 400;

/** Everything on one clock: where clocks are minutes apart, some hints look like the first after a lost wake-up. */
export const oneClock = { names: ["a", "b"], machines: 1 };

/** Of a thousand hints in a second the first is served at once, and all of them by two runs. A request that is no hint does not wait. */
export async function hintBurst(simulation: Simulation, seed: number): Promise<void> {
  const { world, subjects, table, violate } = simulation;
  const { time, chance } = world;
  const [, subject] = subjects;
  if (subject === undefined) return;
  // No sweep: one whose clock is ahead calls early.
  simulation.sweeping = false;
  subject.script = () => ({ ...calm, stepMs: chance.int(150, 250) });
  await time.play(time.now() + 60_000);
  const { runs: before } = subject;
  const { writes } = table;
  const hints = chance.chance(0.1) ? 1_000 : 100;
  simulation.request(subject, true, "hint");
  if (!(await runsAgain(subject, before, simulation, latencyMs)))
    return violate("a hint of a quiet object had to wait");
  // One comes while the first run is under way, as one does where a thousand come in a second.
  time.in(1, () => simulation.request(subject, true, "hint"));
  for (let count = 2; count < hints; count += 1) {
    time.in(chance.int(2, 600), () => simulation.request(subject, true, "hint"));
  }
  const asks = chance.chance(0.5);
  await time.play(time.now() + 620);
  if (asks) {
    const { runs } = subject;
    simulation.request(subject, true);
    await time.play(time.now() + 340, () => subject.runs > runs);
    // Where the first run is still under way, its end starts the next one.
    const isWaiting = subject.runs === runs && subject.runningSince === undefined;
    if (isWaiting) violate("a request waited for hints");
  }
  await time.play(time.now() + 30_000);
  simulation.sweeping = true;
  if (subject.applied < subject.content) violate("a burst of hints was not served");
  if (!isOnOneClock(seed)) return;
  const allowed = asks ? 3 : 2;
  if (subject.runs - before > allowed) violate(`a burst of ${hints} hints cost ${subject.runs - before} runs`);
  if (table.writes - writes > 5 * allowed) violate(`a burst of ${hints} hints cost ${table.writes - writes} writes`);
}

/** Of the stories that end so. */
export function isOnOneClock(seed: number): boolean {
  return seed % 40 === 3;
}

async function runsAgain(
  subject: Subject,
  before: number,
  { world: { time } }: Simulation,
  withinMs: number,
): Promise<boolean> {
  await time.play(time.now() + withinMs, () => subject.runs > before);
  return subject.runs > before;
}
