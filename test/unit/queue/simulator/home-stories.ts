import type { Simulation } from "./simulation.ts";
import { calm, type Script, type Subject } from "./subject.ts";

/** One process at a time for three objects. */
export const household = { names: ["a", "b", "c"], machines: 1 };

const promptMs = 5_000;
const quick: Script = { ...calm, stepMs: 200 };

/** A clock that is set, or that stops with the whole machine, while a write is on its way and wake-ups wait. */
export async function steppedClock(simulation: Simulation): Promise<void> {
  const [subject] = simulation.subjects;
  if (subject === undefined) return;
  const { world } = simulation;
  const { time, chance } = world;
  world.faulty = false;
  subject.script = () => ({ ...quick, steps: 10, stepMs: chance.int(100, 2_000), applyMs: chance.int(8_000, 14_990) });
  if (!(await startsRun(subject, simulation))) return simulation.violate("a request was not run at once");
  const machine = simulation.machine();
  for (let second = 0; second < 100; second += 4) time.in(second * 1_000, () => simulation.wake(subject));
  await time.play(time.now() + chance.int(5_000, 60_000));
  if (chance.chance(0.7))
    machine.stepClock(chance.chance(0.7) ? chance.int(60_000, 300_000) : -chance.int(10_000, 60_000));
  else machine.freeze(chance.int(10_000, 300_000));
  await time.play(time.now() + 400_000);
  subject.script = () => quick;
  if (!(await startsRun(subject, simulation))) simulation.violate("after a clock was set nothing is run any more");
  await time.play(time.now() + promptMs);
}

/** A run that is due in twenty seconds comes then, whatever its host's wall clock is set to meanwhile. */
export async function dueOnSteppedClock(simulation: Simulation): Promise<void> {
  const [subject] = simulation.subjects;
  if (subject === undefined) return;
  const { world, violate } = simulation;
  const { time, chance } = world;
  // It looks at its own wall clock, and may wake early what is due.
  simulation.sweeping = false;
  subject.script = () => ({ ...quick, dueInMs: 20_000 });
  if (!(await startsRun(subject, simulation))) return violate("a request was not run at once");
  await time.play(time.now() + 1_000, () => subject.runningSince === undefined);
  subject.script = () => quick;
  await time.play(time.now() + 1_000);
  simulation.machine().stepClock(chance.chance(0.5) ? chance.int(30_000, 300_000) : -chance.int(30_000, 300_000));
  const { runs } = subject;
  await time.play(time.now() + 17_000);
  if (subject.runs !== runs) violate("a clock that was set forward brought a due time forward");
  await time.play(time.now() + promptMs);
  if (subject.runs === runs) violate("a clock that was set back put a due time off");
  simulation.sweeping = true;
}

/**
 * An object fails now and then, and its process is killed again and again, each time beside another run. It goes on at
 * once in the next process, and is not parked for what happened to its processes.
 */
export async function restarts(simulation: Simulation): Promise<void> {
  const [subject, other] = simulation.subjects;
  if (subject === undefined || other === undefined) return;
  const { world, violate } = simulation;
  const { time } = world;
  const busy: Script = { ...quick, stepMs: 20_000 };
  const slowlyFailing: Script = { ...quick, throws: true };
  simulation.sweeping = false;
  subject.script = () => slowlyFailing;
  if (!(await startsRun(subject, simulation))) return violate("a request was not run at once");
  for (let kills = 0; kills < 8; kills += 1) {
    await time.play(time.now() + promptMs, () => subject.runningSince === undefined);
    subject.script = () => busy;
    other.script = () => busy;
    simulation.request(other, true);
    const { runs } = subject;
    // The longest back-off on the way there.
    await time.play(time.now() + 400_000, () => subject.runs > runs);
    if (subject.runs === runs) return violate("a run that threw was not tried again after its back-off");
    simulation.machine().crash();
    subject.script = () => slowlyFailing;
    other.script = () => quick;
    const before = subject.runs;
    simulation.machine();
    // The other one may have its turn alone first.
    await time.play(time.now() + 60_000 + promptMs, () => subject.runs > before);
    if (subject.runs === before)
      return violate("what a killed process had in hand did not go on at once in the next one");
  }
  simulation.sweeping = true;
  if (simulation.item(subject)?.phase === "Poisoned")
    violate("an object was parked for what happened to its processes");
}

async function startsRun(subject: Subject, simulation: Simulation): Promise<boolean> {
  const { time } = simulation.world;
  await time.play(time.now() + 60_000, () => subject.runningSince === undefined);
  const { runs } = subject;
  simulation.request(subject, true);
  await time.play(time.now() + promptMs, () => subject.runs > runs);
  return subject.runs > runs;
}
