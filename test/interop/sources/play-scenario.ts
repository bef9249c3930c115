import { systemClock } from "../../../lib/process/system-clock.ts";
import { until } from "../flux-recorder/start-flux.ts";
import { isOver, type Left, look } from "./left.ts";
import type { Scenario, Step, Written } from "./scenario.ts";
import {
  applyTo,
  createNamespace,
  isDependent,
  removeFrom,
  request,
  type Scope,
  type Side,
  sourcesOf,
} from "./side.ts";
import type { SourceHosts } from "./source-hosts.ts";

/** Both sides, and the hosts that they read from. */
export interface Scene {
  readonly hosts: SourceHosts;
  readonly flux: Side;
  readonly sluice: Side;
}

/** A step that the two sides do not end in the same way: the lines that only one of them has. */
export interface Difference {
  readonly step: string;
  readonly flux: readonly string[];
  readonly sluice: readonly string[];
}

/** Steps that follow each other in a namespace. */
interface Course {
  readonly namespace: string;
  readonly place: string;
  readonly steps: readonly Step[];
  /** The first of the steps to compare. */
  readonly from: number;
  /** Whether the hosts have got what the first step gives them. */
  readonly isPrepared: boolean;
}

/** As many as source-controller reconciles of a kind at once (`startScene`). */
export const coursesAtOnce = 8;
/** A difference counts once a run that was requested afterwards has not removed it: caches may be old, events late. */
const rounds = 3;
const looks = 4;
const pollMs = 250;

/** Plays it on both sides. @param key unique, for names @returns what differs, in the order of the steps */
export async function differencesOf(scenario: Scenario, key: string, scene: Scene, signal: AbortSignal) {
  const courses = coursesOf(scenario, key);
  await scenario.steps[0].change?.(scene.hosts, key);
  const found: (readonly Difference[])[] = courses.map(() => []);
  const waiting = [...courses.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      found[next[0]] = await play(next[1], scene, signal);
    }
  };
  await Promise.all(Array.from({ length: coursesAtOnce }, worker));
  return found.flat();
}

function coursesOf({ isStory, steps }: Scenario, key: string): readonly Course[] {
  const whole = { namespace: key, place: key, isPrepared: true, from: 0 };
  if (isStory === true) return [{ ...whole, steps }];
  const [first, ...others] = steps;
  const further = others.map((step, index) => {
    const own = `${key}-${index + 1}`;
    const isPrepared = step.change === undefined;
    return { namespace: own, place: isPrepared ? key : own, isPrepared, from: 1, steps: [first, step] };
  });
  return [{ ...whole, steps: [first] }, ...further];
}

async function play({ namespace, place, steps, from, isPrepared }: Course, scene: Scene, signal: AbortSignal) {
  const { hosts, flux, sluice } = scene;
  const sides = [flux, sluice];
  for (const side of sides) await createNamespace(side, namespace, signal);
  const kinds = new Set<string>();
  const differences: Difference[] = [];
  let told: ReadonlySet<string> = new Set();
  for (const [number, step] of steps.entries()) {
    if (number > 0 || !isPrepared) await step.change?.(hosts, place);
    const written = step.apply?.(hosts, place) ?? [];
    for (const { kind } of written) kinds.add(kind);
    const scope = { namespace, kinds };
    for (const named of step.remove ?? []) {
      for (const side of sides) await removeFrom(side, named, namespace, signal);
    }
    let refused: readonly (readonly string[])[] | undefined;
    const again = number < from ? 1 : rounds;
    for (let round = 1; round <= again; round++) {
      const todo = { written: refused === undefined ? written : [], stamp: `${number}.${round}`, scope };
      const answers = await Promise.all(sides.map((side) => run(side, todo, signal)));
      refused ??= answers;
      const [byFlux, bySluice] = await lookUntilEqual(scene, scope, told, signal);
      const [one, other] = [linesOf(byFlux, told, refused[0]), linesOf(bySluice, told, refused[1])];
      const difference = { step: step.what, flux: without(one, other), sluice: without(other, one) };
      const isEqual = difference.flux.length + difference.sluice.length === 0;
      if (!isEqual && round < again) continue;
      if (!isEqual && number >= from) differences.push(difference);
      told = new Set([...told, ...byFlux.events, ...bySluice.events]);
      break;
    }
  }
  return differences;
}

interface Run {
  readonly written: readonly Written[];
  readonly stamp: string;
  readonly scope: Scope;
}

/**
 * Applies the objects, and requests a run of every source: of those that read others once the others are over.
 *
 * @returns how the API server refuses objects
 */
async function run(side: Side, { written, stamp, scope }: Run, signal: AbortSignal): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const depends of [false, true]) {
    const these = written.filter((one) => isDependent(one) === depends);
    refused.push(...(await applyTo(side, these, { namespace: scope.namespace, stamp }, signal)));
    const live = (await sourcesOf(side, scope, signal)).filter((one) => isDependent(one) === depends);
    await request(side, live, stamp, signal);
    const areOver = async (): Promise<boolean> => {
      const now = await sourcesOf(side, scope, signal);
      return now.every((one) => isDependent(one) !== depends || isOver(one));
    };
    await until(areOver, () => `${side.name} has not handled request ${stamp} in ${scope.namespace}`, signal);
  }
  return refused;
}

/** Events are written beside the status, so they may come after it. */
async function lookUntilEqual({ flux, sluice }: Scene, scope: Scope, told: ReadonlySet<string>, signal: AbortSignal) {
  for (let count = 1; ; count++) {
    const both = await Promise.all([look(flux, scope, signal), look(sluice, scope, signal)]);
    const [one, other] = both.map((left) => JSON.stringify(linesOf(left, told)));
    if (one === other || count === looks) return both;
    await systemClock.sleep(pollMs, signal);
  }
}

/** @param told events of former steps, of either side: one of them may come late on the other */
function linesOf({ sources, events }: Left, told: ReadonlySet<string>, refused: readonly string[] = []) {
  const statuses = Object.entries(sources).flatMap(([named, lines]) => lines.map((line) => `${named} ${line}`));
  const fresh = events.filter((event) => !told.has(event));
  return [...refused.map((text) => `refused ${text}`), ...statuses.toSorted(), ...fresh.map((text) => `event ${text}`)];
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}
