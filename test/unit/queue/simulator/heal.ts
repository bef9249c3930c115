import type { Simulation } from "./simulation.ts";
import { calm, type Subject } from "./subject.ts";

const healedWithinMs = 2_400_000;
const parkedWithinMs = 10_800_000;

/** No fault any more: whatever was asked for has to be served, and then all has to be still. */
export async function heal(simulation: Simulation, seed: number): Promise<void> {
  const { world, subjects, table } = simulation;
  const { time, chance } = world;
  world.faulty = false;
  for (const subject of subjects) {
    subject.script = () => ({ ...calm, steps: chance.int(1, 3), stepMs: 200 });
  }
  // What froze last thaws, and calls that were under way end.
  await time.play(time.now() + 330_000);
  const deadly = seed % 10 === 0 ? subjects[0] : undefined;
  if (deadly !== undefined) await makeDeadly(deadly, simulation);
  else await time.play(time.now() + healedWithinMs, () => subjects.every((subject) => isStill(subject, simulation)));
  for (const subject of subjects) judge(subject, simulation);

  const busySoon = subjects.some(({ dueAt }) => dueAt !== undefined && dueAt < time.now() + 900_000);
  const { writes } = table;
  await time.play(time.now() + 180_000);
  if (!busySoon && table.writes !== writes) {
    simulation.violate(`a queue with nothing to do wrote ${table.writes - writes} times`);
  }
}

function isStill(subject: Subject, simulation: Simulation): boolean {
  const item = simulation.item(subject);
  if (item === undefined) return subject.asked === 0 && simulation.world.time.now() > 0;
  const waits =
    item.requested > item.started || item.lease !== undefined || (item.attempts > 0 && item.phase === "Active");
  return (
    !waits && subject.servedFrom >= subject.asked && (subject.dueAt ?? Infinity) > simulation.world.time.now() + 700_000
  );
}

function judge(subject: Subject, simulation: Simulation): void {
  const { name } = subject.key;
  const item = simulation.item(subject);
  if (subject.nature !== "good") return;
  if (subject.servedFrom < subject.asked)
    simulation.violate(`a request of ${name} was never served by a run that began after it`);
  if (subject.applied < subject.askedContent)
    simulation.violate(`${name} has content ${subject.applied}, was asked for ${subject.askedContent}`);
  if (item === undefined) return;
  if (item.lease !== undefined) simulation.violate(`the lease of ${name} is stuck`);
  if (item.requested > item.started) simulation.violate(`${name} waits for a wake-up that does not come`);
  if (item.attempts > 0) simulation.violate(`${name} is not tried again`);
  if (item.dueAt !== undefined && (subject.dueAt ?? 0) < simulation.world.time.now() - 700_000) {
    simulation.violate(`${name} was due and did not run`);
  }
}

/** Content that no run survives: it has to end up parked, and stay so until there is another. */
async function makeDeadly(subject: Subject, simulation: Simulation): Promise<void> {
  const { world } = simulation;
  const { time, chance } = world;
  subject.nature = chance.chance(0.5) ? "throws" : "kills";
  simulation.request(subject, true);
  await time.play(time.now() + 1_000);
  const before = subject.runs;
  const deadlySince = time.now();
  // New releases come in between: their runs are handed back, and change nothing about the count of the others.
  const releases = chance.chance(0.5) ? chance.int(1, 3) : 0;
  if (releases > 0) {
    const { script } = subject;
    subject.script = () => ({ ...script(), steps: 1, stepMs: 5_000 });
    await time.play(time.now() + parkedWithinMs, () => subject.runs - before >= 7);
    for (let count = 0; count < releases; count += 1) {
      const { runs } = subject;
      await time.play(time.now() + parkedWithinMs, () => subject.runs > runs || subject.runningSince !== undefined);
      await time.play(time.now() + chance.int(10, 2_000));
      subject.runner?.terminate();
      await time.play(time.now() + 6_000);
    }
    subject.script = script;
  }
  const parked = (): boolean => simulation.item(subject)?.phase === "Poisoned";
  await time.play(time.now() + parkedWithinMs, parked);
  if (!parked()) return simulation.violate(`${subject.key.name} is deadly and not parked`);
  if (time.now() - deadlySince < 900_000)
    simulation.violate("a deadly object was parked without the back-off between its runs");
  // Two more: one that was under way, and a request may begin a new count.
  if (subject.runs - before > 14 + releases)
    simulation.violate(`a deadly object was run ${subject.runs - before} times`);
  if (subject.letters === 0 || subject.announced === 0)
    simulation.violate("a deadly object was parked and its user was not told");

  const { runs } = subject;
  for (let hints = 0; hints < 3; hints += 1) simulation.request(subject, false);
  await time.play(time.now() + 240_000);
  if (subject.runs !== runs) simulation.violate("a deadly object was run again for a mere hint");

  const { letters, announced } = subject;
  if (chance.chance(0.5)) await time.play(time.now() + 2.5 * 3_600_000);
  if (subject.runs !== runs || subject.letters !== letters || subject.announced !== announced)
    simulation.violate("a parked object was taken up again by the hour, with the same input");

  subject.nature = "good";
  // Told of it or not: the hourly look at the input finds it.
  const told = chance.chance(0.7);
  if (told) simulation.request(subject, true);
  else subject.content += 1;
  const waitMs = told ? 5_000 : 3_600_000 + 900_000;
  await time.play(time.now() + waitMs, () => subject.applied === subject.content);
  if (subject.applied !== subject.content) simulation.violate("an object that is no longer deadly was not run");
  await time.play(time.now() + 5_000);
}
