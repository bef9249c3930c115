import type { Simulation } from "./simulation.ts";

/** More than one page of a sweep. */
export const pile = { names: Array.from({ length: 230 }, (_, index) => `o${index}`), machines: 3 };

/**
 * Every wake-up of many objects is lost, and a few rows of the table take no write. One sweep wakes all the others, and
 * later ones wake the rest as soon as they can.
 */
export async function pileUp(simulation: Simulation): Promise<void> {
  const { world, subjects, table, queue, violate } = simulation;
  const { time, chance } = world;
  world.faulty = false;
  queue.loses = subjects.length;
  for (const subject of subjects) time.in(chance.int(0, 1_000), () => simulation.request(subject, true));
  // As long as wake-ups are trusted, by two clocks that are wrong.
  await time.play(time.now() + 60_000 + 600_000);
  for (let count = 0; count < 3; count += 1) table.stuck.add(chance.pick(subjects).key.name);
  simulation.sweepOn(simulation.machine());
  await time.play(time.now() + 10_000);
  const served = subjects
    .filter(({ key }) => !table.stuck.has(key.name))
    .filter(({ content, applied }) => applied === content);
  const missing = subjects.length - table.stuck.size - served.length;
  if (missing > 0) violate(`a sweep left ${missing} of ${subjects.length} objects asleep`);
  table.stuck.clear();
  simulation.sweepOn(simulation.machine());
  await time.play(time.now() + 10_000);
  if (subjects.some(({ content, applied }) => applied < content))
    violate("an object slept on after its row could be written");
}
