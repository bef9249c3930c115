import type { Random } from "../../queue/simulator/random.ts";
import type { Outcome } from "../../queue/simulator/simulate.ts";
import type { Subject } from "../../queue/simulator/subject.ts";
import { judge } from "./judge-ownership.ts";
import { type Content, type OwnershipMutation, type OwnershipWorld, ownershipWorld } from "./ownership-world.ts";
import { type Published, watchRuns } from "./watch-runs.ts";

const objects = ["x1", "x2", "x3", "x4"];
const owners = ["a", "b", "c"];
const healedWithinMs = 3_600_000;

/**
 * One story of three Kustomizations that hand objects to each other over several revisions, of one source or of two: runs
 * die or stand still between any two of their effects, calls fail before and after their effect, messages and events are
 * lost, a Kustomization is deleted and made anew. In the end nothing goes wrong any more, and everything has to be as the
 * last revision has it.
 */
export async function tellOwnership(seed: number, mutation: OwnershipMutation = {}, traced = false): Promise<Outcome> {
  // The one turn of the event loop that a story takes, so that the test runner is not shut out.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  using world = ownershipWorld(owners, { seed, mutation, traced });
  const { simulation } = world;
  const { time, chance } = simulation.world;
  const cast = castOf(chance);
  const published: Published[] = [];
  const strikeNext = watchRuns(world, published);
  const strike = (): void => {
    const ofWrites = chance.chance(0.7);
    const moment = chance.int(1, ofWrites ? 16 : 70);
    // Long enough for a successor, or just for others to do something meanwhile.
    const frozenMs = chance.pick([undefined, undefined, chance.int(130_000, 300_000), chance.int(200, 4_000)]);
    strikeNext(chance.pick(owners), { moment, ofWrites, frozenMs });
  };

  let wanted: Content = {};
  const push = (source: string): void => {
    const here = owners.filter((name) => cast.get(name)?.source === source);
    const content = Object.fromEntries(here.map((name) => [name, wanted[name] ?? []]));
    published.push({ at: time.now(), source, content });
    world.push(source, content);
  };
  const publish = (doubled: number): void => {
    wanted = assigned(chance, doubled);
    push("s1");
    // The second source may be pushed to a while later, and then to what is wanted by that time.
    const laterMs = chance.pick([0, chance.int(1, 3_000), chance.int(1, 30_000)]);
    if (laterMs === 0) push("s2");
    else time.in(laterMs, () => push("s2"));
  };
  const keep = (name: string): void => world.keep(name, cast.get(name) ?? { source: "", prune: true });
  /** What is not to come again. */
  const gone = new Set<string>();
  const recreate = (name: string): void => {
    const again = (): void => {
      if (gone.has(name)) return;
      // Only once its finalizer is done.
      if (world.kustomization(name) === undefined) keep(name);
      else time.in(5_000, again);
    };
    world.remove(name);
    time.in(chance.int(100, 60_000), again);
  };
  const sweepEachMinute = (): void => {
    world.sweep();
    time.in(60_000, sweepEachMinute);
  };

  time.in(chance.int(0, 60_000), sweepEachMinute);
  publish(0);
  for (const name of owners) keep(name);
  if (chance.chance(0.7)) await time.play(time.now() + 240_000);
  for (let revisions = chance.int(1, 4); revisions > 0; revisions -= 1) {
    for (let strikes = chance.int(0, 2); strikes > 0; strikes -= 1) strike();
    simulation.world.faulty = chance.chance(0.5);
    publish(0.15);
    if (chance.chance(0.12)) recreate(chance.pick(owners));
    if (chance.chance(0.15)) simulation.machine().freeze(chance.int(1_000, 150_000));
    await time.play(time.now() + chance.pick([500, 5_000, 30_000, 100_000, 300_000]));
  }
  if (chance.chance(0.5)) strike();
  publish(0);
  if (chance.chance(0.3)) gone.add(chance.pick(owners));
  for (const name of gone) world.remove(name);
  await time.play(time.now() + 100_000);

  await calmDown(world);
  const ending = Object.fromEntries(owners.map((name) => [name, gone.has(name) ? [] : (wanted[name] ?? [])]));
  await judge(world, { wanted: ending, cast, published }, simulation.violate);
  return { violations: simulation.violations, trace: simulation.lines };
}

function castOf(chance: Random) {
  const sourceOf = () => (chance.chance(0.7) ? "s1" : "s2");
  return new Map(owners.map((name) => [name, { source: sourceOf(), prune: chance.chance(0.8) }]));
}

/** Each object has one owner or none; `doubled`: the chance of a second owner. */
function assigned(chance: Random, doubled: number): Content {
  const content = Object.fromEntries(owners.map((name): [string, string[]] => [name, []]));
  for (const object of objects) {
    if (chance.chance(0.3)) continue;
    content[chance.pick(owners)]?.push(object);
    const more = content[chance.pick(owners)];
    if (chance.chance(doubled) && more?.includes(object) === false) more.push(object);
  }
  return content;
}

/** Nothing goes wrong any more: all that was asked for is served, and two intervals pass. */
async function calmDown({ simulation }: OwnershipWorld): Promise<void> {
  const { world, subjects } = simulation;
  const { time } = world;
  world.faulty = false;
  // What froze last thaws, and calls that were under way end.
  await time.play(time.now() + 330_000);
  const isStill = (subject: Subject): boolean => {
    const item = simulation.item(subject);
    if (item === undefined) return false;
    const isBusy = item.requested > item.started || item.lease !== undefined || item.attempts > 0;
    return !isBusy && (subject.dueAt ?? Infinity) > time.now() + 700_000;
  };
  await time.play(time.now() + healedWithinMs, () => subjects.every(isStill));
  // What another is about to have is handed over by a later run.
  for (let intervals = 0; intervals < 2; intervals += 1) {
    // What has never run has no interval.
    for (const subject of subjects) if (simulation.item(subject) !== undefined) simulation.request(subject, false);
    await time.play(time.now() + 10_000);
    await time.play(time.now() + healedWithinMs, () => subjects.every(isStill));
  }
}
