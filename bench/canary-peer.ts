import type { CanaryStatus } from "../lib/api/canary.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import type { BuiltFlagger } from "../test/interop/flagger/start-flagger.ts";
import { releaseAll, statuses, weights } from "./canary-load.ts";
import { flagger, flaggerToMeasure, freshWorld, type Releaser, sluice, type World } from "./canary-peers.ts";
import { type Figure, figure, type Limit } from "./figure.ts";
import { cpuSeconds, residentMb } from "./process-memory.ts";

const restMs = 60_000;
/** Five steps of ten seconds, well within the run: 2 % a step up to 50 %. */
const advanceMs = 50_000;
const weightOfStep = 2;
/** More than an interval: what the time before has begun is over. */
const settleMs = 12_000;
const betweenRoundsMs = 4_000;
/** For the initialisation and the release of 200 Canaries or fewer, and for each further one. */
const [patienceMs, patienceOfOneMs] = [240_000, 600];
/** The sweep of a minute, however many Canaries there are. */
const mostAtRest: Limit = { of: "max", atMost: 60 };
/** Six, and those that no Canary causes. */
const mostOfStep: Limit = { of: "max", atMost: 7 };
const { signal } = new AbortController();

/** What a process has used in a time, and what came of it. */
interface Used {
  readonly cpuMs: number;
  readonly requests: number;
  readonly megabytes: number;
  /** In ten seconds, of all Canaries. */
  readonly steps: number;
  /** Processor time and requests for each step. */
  readonly ofStep: Pick<Used, "cpuMs" | "requests">;
}

interface Measured {
  readonly atRest: Used;
  readonly advancing: Used;
}

/**
 * Flagger itself and `sluice local`, one after the other, each on a fresh control plane: Canaries with the Gateway API and one metric,
 * every ten seconds, at rest and while all of them advance. Flagger has limits of its client that it never reaches, and then, in the same
 * runs, those that it has by default. Requests are those of the audit log, without watches. What they are, and the table for
 * docs/figures.md, go to stderr.
 */
export async function canaryPeer(count: number): Promise<readonly Figure[]> {
  const built = await flaggerToMeasure("canaryPeer");
  if (built === undefined) return [];
  const [byFlagger, limited] = await besideFlagger(built, count);
  const bySluice = await besideSluice(built, count);
  process.stderr.write(tableOf(count, byFlagger, limited, bySluice));
  return [
    ...restFigures(`${count} Canaries at rest, Flagger`, byFlagger.atRest),
    ...advanceFigures(`${count} Canaries advancing, Flagger`, byFlagger.advancing),
    ...advanceFigures(`${count} Canaries advancing, Flagger with its default limits`, limited),
    ...restFigures(`${count} Canaries at rest, Sluice`, bySluice.atRest, mostAtRest),
    ...advanceFigures(`${count} Canaries advancing, Sluice`, bySluice.advancing, mostOfStep),
  ];
}

/**
 * The part of {@link canaryPeer} that is about `sluice local`: on a real API server, without Flagger beside it. Whether so many Canaries take
 * all their steps in time.
 */
export async function canariesOnServer(count: number): Promise<readonly Figure[]> {
  const built = await flaggerToMeasure("canariesOnServer");
  if (built === undefined) return [];
  const { advancing, atRest } = await besideSluice(built, count);
  return [
    ...restFigures(`${count} Canaries at rest on a real API server`, atRest, mostAtRest),
    ...advanceFigures(`${count} Canaries advancing on a real API server`, advancing, mostOfStep, {
      of: "min",
      atLeast: 0.98 * count,
    }),
  ];
}

async function besideFlagger(built: BuiltFlagger, count: number): Promise<readonly [Measured, Used]> {
  await using open = new AsyncDisposableStack();
  const world = await freshWorld(built, count, open);
  const measured = await oneRun("Flagger", world, await flagger(built, "raised", world));
  await using limited = await flagger(built, "default", world);
  // Its first look comes ten seconds after its start.
  await systemClock.sleep(2 * settleMs, signal);
  return [measured, await used("Flagger with its default limits, advancing", advanceMs, world, limited)];
}

async function besideSluice(built: BuiltFlagger, count: number): Promise<Measured> {
  await using open = new AsyncDisposableStack();
  const world = await freshWorld(built, count, open);
  return await oneRun("Sluice", world, await sluice(world));
}

/** From the initialisation to the middle of a run; then the process ends. */
async function oneRun(name: string, world: World, running: Releaser): Promise<Measured> {
  await using releaser = running;
  await untilAll(`are Initialized by ${name}`, world, ({ phase }) => phase === "Initialized");
  await systemClock.sleep(settleMs, signal);
  const atRest = await used(`${name}, at rest`, restMs, world, releaser);
  await releaseAll(world.count, world.cluster, signal);
  await untilAll(`advance with ${name}`, world, ({ canaryWeight = 0 }) => canaryWeight > 0);
  // In the middle between two rounds, so that each round is counted whole.
  await systemClock.sleep(betweenRoundsMs, signal);
  return { atRest, advancing: await used(`${name}, advancing`, advanceMs, world, releaser) };
}

async function used(name: string, ms: number, { audit, cluster }: World, { pid }: Releaser): Promise<Used> {
  const [before, start, cpu] = [await weights(cluster, signal), await audit.end(), cpuSeconds(pid)];
  await systemClock.sleep(ms, signal);
  const cpuMs = (cpuSeconds(pid) - cpu) * 1_000;
  const megabytes = residentMb(pid);
  const steps = ((await weights(cluster, signal)) - before) / weightOfStep;
  const requests = await audit.requests(start, "sluice", []);
  say(`${name}: ${requests.length} requests, ${steps} steps in ${ms / 1_000} s\n${kindsOf(requests)}`);
  const ofStep = { cpuMs: cpuMs / steps, requests: requests.length / steps };
  return { cpuMs, requests: requests.length, megabytes, steps: (steps * 10_000) / ms, ofStep };
}

/** How many requests of each verb there are for each resource. */
function kindsOf(requests: readonly string[]): string {
  const kinds = Object.groupBy(requests, (request) => {
    const [verb = "", path = ""] = request.replace(/\?.*/, "").split(/ (?=\/)/);
    const [resource = path, , subresource] = path.replace(/^\/apis?\/.*namespaces\/[^/]+\//, "").split("/");
    return `${verb} ${[resource, subresource].filter((part) => part !== undefined).join("/")}`;
  });
  const lines = Object.entries(kinds).map(([kind, { length } = []]) => `  ${length} ${kind}\n`);
  return lines.toSorted().join("");
}

async function untilAll(
  what: string,
  { cluster, count }: World,
  holds: (status: CanaryStatus) => boolean,
): Promise<void> {
  const limitMs = Math.max(patienceMs, count * patienceOfOneMs);
  const deadline = Date.now() + limitMs;
  for (;;) {
    const those = (await statuses(cluster, signal)).filter(holds).length;
    if (those === count) break;
    if (Date.now() > deadline) throw new Error(`${those} of ${count} Canaries ${what} after ${limitMs / 1_000} s`);
    await systemClock.sleep(1_000, signal);
  }
  say(`all Canaries ${what}`);
}

function restFigures(name: string, { cpuMs, requests, megabytes }: Used, limit?: Limit): readonly Figure[] {
  return [
    figure(`${name}, processor time a minute`, "ms", [cpuMs]),
    figure(`${name}, requests a minute`, "requests", [requests], limit),
    figure(`${name}, memory`, "MB", [megabytes]),
  ];
}

function advanceFigures(
  name: string,
  { megabytes, ofStep, steps }: Used,
  limit?: Limit,
  leastSteps?: Limit,
): readonly Figure[] {
  return [
    figure(`${name}, steps in ten seconds`, "runs", [steps], leastSteps),
    figure(`${name}, processor time a step`, "ms", [ofStep.cpuMs]),
    figure(`${name}, requests a step`, "requests", [ofStep.requests], limit),
    figure(`${name}, memory`, "MB", [megabytes]),
  ];
}

function tableOf(count: number, flaggers: Measured, limited: Used, own: Measured): string {
  const row = (what: string, values: readonly (number | string)[]): string =>
    `| ${[what, ...values.map((value) => (typeof value === "number" ? rounded(value) : value))].join(" | ")} |\n`;
  const advancing = [flaggers.advancing, limited, own.advancing];
  const atRest = (of: (from: Used) => number) => [of(flaggers.atRest), "", of(own.atRest)];
  return [
    row(`${count} Canaries`, ["Flagger", "Flagger, default limits", "Sluice"]),
    row("---", ["---", "---", "---"]),
    row(
      "at rest: processor time a minute, ms",
      atRest(({ cpuMs }) => cpuMs),
    ),
    row(
      "at rest: requests a minute",
      atRest(({ requests }) => requests),
    ),
    row(
      "at rest: memory, MB",
      atRest(({ megabytes }) => megabytes),
    ),
    row(
      "advancing: steps in ten seconds",
      advancing.map(({ steps }) => steps),
    ),
    row(
      "advancing: processor time a step, ms",
      advancing.map(({ ofStep }) => ofStep.cpuMs),
    ),
    row(
      "advancing: requests a step",
      advancing.map(({ ofStep }) => ofStep.requests),
    ),
    row(
      "advancing: memory, MB",
      advancing.map(({ megabytes }) => megabytes),
    ),
  ].join("");
}

function rounded(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString("en");
}

function say(what: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} canaryPeer: ${what}\n`);
}
