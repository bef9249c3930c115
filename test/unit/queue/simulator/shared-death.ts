import type { Simulation } from "./simulation.ts";
import { calm, type Script, type Subject } from "./subject.ts";

/** One process for ten objects: whatever kills it takes the runs of all along. */
export const crowd = { names: ["killer", ...Array.from({ length: 9 }, (_, index) => `good${index}`)], machines: 1 };

const parkedWithinMs = 10_800_000;
const slow: Script = { ...calm, steps: 3, stepMs: 2_000 };

/**
 * An object whose every run kills its process, which nine others run in: they are found dead together and come again
 * together. It has to end up parked, and none of the others.
 */
export async function sharedDeath(simulation: Simulation): Promise<void> {
  const { world, subjects } = simulation;
  const { time, chance } = world;
  const [killer, ...others] = subjects;
  if (killer === undefined) return;
  world.faulty = false;
  for (const subject of subjects) subject.script = () => slow;
  const sweepNow = (): void => {
    simulation.sweepOn(simulation.machine());
    time.in(60_000, sweepNow);
  };
  time.in(60_000, sweepNow);
  killer.nature = "kills";
  for (const subject of subjects) time.in(chance.int(0, 1_500), () => simulation.request(subject, true));
  const isParked = (subject: Subject): boolean => simulation.item(subject)?.phase === "Poisoned";
  await time.play(time.now() + parkedWithinMs, () => isParked(killer) || others.some(isParked));
  if (!isParked(killer)) simulation.violate("what kills its process was not parked");
  // What ran when it was killed last comes back within two leases' lengths.
  await time.play(time.now() + 300_000);
  for (const subject of others) {
    const { name } = subject.key;
    const { attempts = 0, phase } = simulation.item(subject) ?? {};
    if (phase === "Poisoned" || subject.letters > 0) simulation.violate(`${name} was parked for what another did`);
    if (attempts > 0 || subject.applied < subject.askedContent)
      simulation.violate(`${name} was kept from its run by another`);
  }
}
