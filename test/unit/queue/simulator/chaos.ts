import type { Simulation } from "./simulation.ts";
import type { Script } from "./subject.ts";

/** Minutes in which messages are lost, calls fail, machines die, freeze and have their clocks set, and much is asked for. */
export async function chaos(simulation: Simulation): Promise<void> {
  const { world, subjects } = simulation;
  const { time, chance } = world;
  const lastsMs = chance.int(120_000, 480_000);
  const anywhen = (most: number, happen: () => void): void => {
    for (let count = chance.int(0, most); count > 0; count -= 1) time.in(chance.int(0, lastsMs), happen);
  };

  for (const subject of subjects) {
    subject.script = () => chaoticScript(simulation);
    time.in(chance.int(0, 5_000), () => simulation.request(subject, true));
    anywhen(4, () => {
      for (let count = chance.chance(0.2) ? 5 : 1; count > 0; count -= 1)
        simulation.request(subject, chance.chance(0.5), time.now() % 2 === 0 ? "request" : "hint");
    });
  }
  anywhen(4, () => simulation.machine().freeze(chance.int(100, chance.chance(0.5) ? 300_000 : 20_000)));
  anywhen(2, () => simulation.machine().cutOff(chance.int(1_000, 120_000)));
  anywhen(2, () => simulation.machine().crash());
  anywhen(2, () => simulation.machine().terminate());
  anywhen(6, () => simulation.machine().stepClock(chance.int(-300_000, 300_000)));
  const sweepLate = (): void => {
    simulation.sweepOn(simulation.machine());
    if (chance.chance(0.1)) simulation.sweepOn(simulation.machine());
    time.in(60_000 + (world.faulty && chance.chance(0.2) ? chance.int(0, 60_000) : 0), sweepLate);
  };
  time.in(chance.int(0, 60_000), sweepLate);
  await time.play(time.now() + lastsMs);
}

function chaoticScript({ world: { chance } }: Simulation): Script {
  const slow = chance.chance(0.4);
  const verySlow = slow && chance.chance(0.2);
  return {
    steps: chance.int(1, slow ? 6 : 3),
    stepMs: slow ? chance.int(1_000, verySlow ? 150_000 : 40_000) : chance.int(0, 500),
    waitMs: chance.chance(0.3) ? chance.int(1_000, 25_000) : 0,
    // No request may take longer than the margin.
    applyMs: chance.chance(0.4) ? chance.int(1_000, 14_990) : chance.int(1, 100),
    dueInMs: chance.chance(0.5) ? undefined : chance.int(1, chance.chance(0.3) ? 3_600_000 : 10_000),
    throws: chance.chance(0.1),
    saves: chance.chance(0.7),
  };
}
