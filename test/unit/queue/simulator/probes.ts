import { maxAttempts } from "../../../../lib/queue/timing.ts";
import type { Simulation } from "./simulation.ts";
import { calm, type Script, type Subject } from "./subject.ts";

const promptMs = 5_000;
const quick: Script = { ...calm, stepMs: 200 };

/** What must happen at once while nothing goes wrong. One probe a seed. */
export async function probe(simulation: Simulation, seed: number): Promise<void> {
  const [, subject] = simulation.subjects;
  if (subject === undefined || simulation.item(subject) === undefined) return;
  subject.script = () => quick;
  const act = probes[seed % probes.length];
  await act?.(subject, simulation, seed);
}

const probes = [
  requestTwice,
  burst,
  shortDue,
  longDue,
  backOff,
  handBack,
  handBackAgain,
  deadHolder,
  lostWakeUp,
  shortOutages,
  cutOff,
  thaw,
];

async function runs(subject: Subject, { world: { time } }: Simulation, withinMs: number): Promise<boolean> {
  const before = subject.runs;
  await time.play(time.now() + withinMs, () => subject.runs > before);
  return subject.runs > before;
}

async function ends({ world: { time } }: Simulation, withinMs: number, subject: Subject): Promise<void> {
  await time.play(time.now() + withinMs, () => subject.runningSince === undefined);
}

async function requestTwice(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  subject.script = () => ({ ...quick, stepMs: 70_000 });
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  await world.time.play(world.time.now() + world.chance.int(100, 60_000));
  simulation.request(subject, true);
  await ends(simulation, 80_000, subject);
  subject.script = () => quick;
  if (!(await runs(subject, simulation, promptMs)))
    violate("a request during a run did not lead to another run at once");
}

async function burst(subject: Subject, simulation: Simulation, seed: number): Promise<void> {
  const { world, table, violate } = simulation;
  const requests = seed % 50 === 1 ? 1_000 : 30;
  const { runs: before } = subject;
  const { writes } = table;
  subject.script = () => ({ ...quick, stepMs: 2_000 });
  for (let count = 0; count < requests; count += 1) {
    world.time.in(world.chance.int(0, 300), () => simulation.request(subject, true));
  }
  await world.time.play(world.time.now() + 30_000);
  if (subject.runs - before > 2) violate(`a burst of ${requests} requests cost ${subject.runs - before} runs`);
  if (table.writes - writes > 14) violate(`a burst of ${requests} requests cost ${table.writes - writes} writes`);
  if (subject.applied < subject.content) violate("a burst of requests was not served");
}

async function shortDue(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  subject.script = () => ({ ...quick, dueInMs: 20_000 });
  simulation.request(subject, false);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  await ends(simulation, 5_000, subject);
  subject.script = () => quick;
  if (!(await runs(subject, simulation, 20_000 + promptMs))) violate("an object was not run when it was due");
  await world.time.play(world.time.now() + 5_000);
}

async function longDue(subject: Subject, simulation: Simulation): Promise<void> {
  const { violate } = simulation;
  subject.script = () => ({ ...quick, dueInMs: 1_800_000 });
  simulation.request(subject, false);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  await ends(simulation, 5_000, subject);
  subject.script = () => quick;
  if (await runs(subject, simulation, 1_100_000)) return violate("an object was run long before it was due");
  // Two machines' clocks and a sweep's period.
  if (!(await runs(subject, simulation, 700_000 + 600_000 + 65_000))) violate("an object was not run when it was due");
}

async function backOff(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  const { time, chance } = world;
  subject.script = () => ({ ...quick, throws: true });
  simulation.request(subject, false);
  // More of the same that is asked for in the middle of a failing run waits as that does.
  const askedAgain = chance.int(1, 6);
  for (let attempt = 1; attempt <= 7; attempt += 1) {
    const waitMs = attempt === 1 ? 0 : 750 * 2 ** (attempt - 2);
    // A sweep whose clock is ahead may call early.
    simulation.sweeping = false;
    const early = waitMs > 1_000 && (await runs(subject, simulation, waitMs * 0.9));
    if (early) return violate("a run that threw was tried again before its back-off was over");
    if (!(await runs(subject, simulation, waitMs + promptMs)))
      return violate("a run that threw was not tried again after its back-off");
    if (attempt === askedAgain) simulation.request(subject, false);
    await ends(simulation, 5_000, subject);
  }
  // Now in a back-off of 48 s: more of the same is no reason to try sooner, something new is.
  const { runs: before } = subject;
  simulation.request(subject, false);
  await time.play(time.now() + promptMs);
  simulation.sweeping = true;
  if (subject.runs !== before) return violate("a mere hint cut a back-off short");
  subject.script = () => quick;
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) violate("a new input had to wait for the back-off of the old one");
}

async function handBack(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  subject.script = () => ({ ...quick, stepMs: 60_000 });
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  await world.time.play(world.time.now() + world.chance.int(300, 50_000));
  subject.runner?.terminate();
  subject.script = () => quick;
  if (!(await runs(subject, simulation, promptMs))) return violate("a run that was handed back did not go on at once");
  await world.time.play(world.time.now() + promptMs);
  if (subject.applied < subject.content) violate("a run that was handed back came to nothing");
}

/** As many new releases in a row as it takes failures to park an object: each run is handed back, and none is counted. */
async function handBackAgain(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  subject.script = () => ({ ...quick, stepMs: 60_000 });
  simulation.request(subject, true);
  for (let releases = 0; releases <= maxAttempts; releases += 1) {
    if (!(await runs(subject, simulation, promptMs)))
      return violate("a run that was handed back did not go on at once");
    await world.time.play(world.time.now() + world.chance.int(300, 20_000));
    subject.runner?.terminate();
  }
  subject.script = () => quick;
  if (!(await runs(subject, simulation, promptMs))) return violate("an object was parked for being handed back");
  await world.time.play(world.time.now() + promptMs);
}

async function deadHolder(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, queue, violate } = simulation;
  subject.script = () => ({ ...quick, stepMs: 60_000 });
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  await world.time.play(world.time.now() + world.chance.int(300, 50_000));
  subject.runner?.crash();
  subject.script = () => quick;
  const isLost = world.chance.chance(0.5);
  queue.loses = isLost ? 1 : 0;
  // The message comes back, is sent on once, and finds the lease dead. Where it is lost on the way there is still the sweep,
  // which comes late by two clocks that are wrong.
  const limitMs = 125_000 + (isLost ? 600_000 + 125_000 : 0);
  if (!(await runs(subject, simulation, limitMs))) violate("a dead holder's lease was not taken over in time");
  await world.time.play(world.time.now() + promptMs);
}

async function lostWakeUp(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, queue, violate } = simulation;
  const { time } = world;
  const again = world.chance.chance(0.5);
  simulation.sweeping = !again;
  queue.loses = 1;
  simulation.request(subject, true);
  // As long as a wake-up is trusted, by two clocks that are wrong, and a sweep's period.
  const healed = await runs(subject, simulation, 600_000 + 60_000 + 65_000);
  if (again) {
    simulation.request(subject, true);
    if (!(await runs(subject, simulation, promptMs)))
      violate("a later request did not send the wake-up again that was lost");
  } else if (!healed) violate("the sweep did not send the wake-up again that was lost");
  simulation.sweeping = true;
  await time.play(time.now() + promptMs);
}

/** The table is away for ten seconds out of thirty: a run of two minutes goes on, since three tries to renew fit into its lease. */
async function shortOutages(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  const { time, chance } = world;
  subject.script = () => ({ ...quick, steps: 60, stepMs: 2_000, saves: false });
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  const { runs: before, runningSince } = subject;
  const firstAt = chance.int(0, 30_000);
  for (let outages = 0; outages < 3; outages += 1) {
    time.in(firstAt + outages * 30_000, () => (world.tableAway = true));
    time.in(firstAt + outages * 30_000 + 10_000, () => (world.tableAway = false));
  }
  await time.play(time.now() + 100_000);
  if (subject.runs !== before || subject.runningSince !== runningSince)
    violate("a run was stopped for outages of ten seconds");
  await ends(simulation, 60_000, subject);
}

/** A holder that cannot renew, does not know that it is watched, and writes as slowly as it may. */
async function cutOff(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  const { time, chance } = world;
  subject.script = () => ({
    ...quick,
    steps: 40,
    stepMs: chance.int(100, 3_000),
    waitMs: chance.chance(0.5) ? 0 : chance.int(5_000, 25_000),
    applyMs: chance.int(10_000, 14_990),
    saves: false,
  });
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  for (let second = 0; second < 40; second += 4) time.in(second * 1_000, () => simulation.wake(subject));
  await time.play(time.now() + chance.int(1_000, 40_000));
  const { runner } = subject;
  if (chance.chance(0.5)) runner?.stepClock(chance.int(-300_000, 0));
  runner?.cutOff(180_000);
  subject.script = () => quick;
  // Mostly within two minutes; but those who watch may be cut off as well, and then the sweep sees to it.
  if (!(await runs(subject, simulation, 1_000_000)))
    violate("the lease of a holder that cannot renew was not taken over");
  await time.play(time.now() + 90_000);
}

/** A holder that wakes up long after its lease, with its successor at work. */
async function thaw(subject: Subject, simulation: Simulation): Promise<void> {
  const { world, violate } = simulation;
  const { time, chance } = world;
  subject.script = () => ({ ...quick, steps: 2, stepMs: 200_000, saves: false });
  simulation.request(subject, true);
  if (!(await runs(subject, simulation, promptMs))) return violate("a request was not run at once");
  await time.play(time.now() + chance.int(100, 20_000));
  subject.runner?.freeze(170_000);
  await time.play(time.now() + 560_000);
  subject.script = () => quick;
  await time.play(time.now() + 300_000);
  if (subject.applied < subject.content) violate("a request was lost with its frozen holder");
}
