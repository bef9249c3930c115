import { findCondition } from "../lib/api/condition.ts";
import { type HelmRelease, parseHelmRelease } from "../lib/api/helm-release.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { type ChartFiles, pushChart } from "../local/demo/push-chart.ts";
import type { FlagsOfControllers } from "../test/interop/fleet/start-whole-flux.ts";
import { type Figure, figure, type Limit } from "./figure.ts";
import { hookedChart, smallChart, version } from "./helm-charts.ts";
import { apply, besideBoth, type Cost, costOf, namespace, type Peer, request, served, until } from "./peers.ts";

const count = 50;
/** A whole list each time: seldom enough not to load the API server. */
const lookAgainMs = 50;
const patienceMs = 180_000;
/** Before each moment, so that no run of the one before delays its first: Sluice begins runs of one object a second apart. */
const restMs = 2_000;

const moments = ["install", "unchanged", "upgrade"] as const;
type Moment = (typeof moments)[number];

interface Measured {
  /** The first release of the process, which starts Sluice's engine. */
  readonly first: Cost;
  /** 50 releases of the small chart. */
  readonly many: Readonly<Record<Moment, Cost>>;
  /** One release of 61 objects with hooks, installed by a process that has installed the 50. */
  readonly hooked: Cost;
}

/** Promised for Sluice: seconds for the 50, processor time of a release, and memory. */
const goals: Readonly<Record<Moment, { readonly ms: number; readonly cpuMs: number }>> = {
  install: { ms: 5_000, cpuMs: 50 },
  unchanged: { ms: 500, cpuMs: 4 },
  upgrade: { ms: 5_000, cpuMs: 70 },
};
const goalPeakMb = 350 * 1.048_576;
const goalHookedMs = 1_500;

const controllers: FlagsOfControllers = { "source-controller": [], "helm-controller": [] };

/**
 * 50 HelmReleases of one small chart, by real Flux and by Sluice, each on a fresh control plane: wall time from the first of them, from the
 * first request, or from the first change of values, until all of them are Ready as a client of the API server sees it. Of Flux only
 * helm-controller is counted, of Sluice the whole process. A release before the 50 starts the engine, and is measured by itself.
 */
export async function helmPeer(): Promise<readonly Figure[]> {
  const measured = await besideBoth({ bench: "helmPeer", flux: controllers }, measure);
  if (measured === undefined) return [];
  return [...figuresOf("Flux", "helm-controller", measured.flux), ...figuresOf("Sluice", "sluice", measured.sluice)];
}

function figuresOf(name: string, own: string, { first, many, hooked }: Measured): readonly Figure[] {
  const atMost = (most: number): Limit | undefined => (name === "Sluice" ? { of: "max", atMost: most } : undefined);
  const peaks = moments.map((moment) => many[moment].used[own]?.peakMb ?? Number.NaN);
  const firstCpuMs = 1_000 * (first.used[own]?.cpu ?? Number.NaN);
  return [
    figure(`the first release of a process, install, ${name}`, "ms", [first.ms]),
    figure(`the first release of a process, install, ${name}, processor time`, "ms", [firstCpuMs]),
    ...moments.flatMap((moment) => {
      const { ms, used } = many[moment];
      const cpuMs = (1_000 * (used[own]?.cpu ?? Number.NaN)) / count;
      const title = `${count} releases of a small chart, ${moment}, ${name}`;
      return [
        figure(title, "ms", [ms], atMost(goals[moment].ms)),
        figure(`${title}, processor time a release`, "ms", [cpuMs], atMost(goals[moment].cpuMs)),
      ];
    }),
    figure(`${count} releases of a small chart, peak memory, ${name}`, "MB", [Math.max(...peaks)], atMost(goalPeakMb)),
    figure(`61 objects with hooks, install, ${name}`, "ms", [hooked.ms], atMost(goalHookedMs)),
  ];
}

const names: readonly string[] = Array.from({ length: count }, (_, index) => `release-${index}`);

async function measure(peer: Peer): Promise<Measured> {
  await chartSource(peer, "small", smallChart);
  await chartSource(peer, "hooked", hookedChart);
  const all = (each: (name: string) => Promise<unknown>) => Promise.all(names.map(each));
  const rest = () => systemClock.sleep(restMs, AbortSignal.timeout(patienceMs));
  /** One release of this chart, until it is installed. */
  const one = (name: string, chart: string) =>
    costOf(peer, async () => {
      await applyRelease(peer, name, chart, {});
      await until(peer, "HelmRelease", name, (live) => isReadyWith(parseHelmRelease(live), 1));
    });
  /** All 50 with this value, until they are at this revision. */
  const released = (greeting: string, revision: number) =>
    costOf(peer, async () => {
      await all((name) => applyRelease(peer, name, "small", { greeting }));
      await untilAll(peer, (release) => isReadyWith(release, revision));
    });
  const first = await one("first", "small");
  await rest();
  const install = await released("hello", 1);
  await rest();
  const unchanged = await costOf(peer, async () => {
    const asked = new Map<string, string>();
    await all(async (name) => asked.set(name, await request(peer, "HelmRelease", name)));
    await untilAll(peer, ({ metadata, status }) => status.lastHandledReconcileAt === asked.get(metadata.name));
  });
  await rest();
  const upgrade = await released("goodbye", 2);
  await rest();
  const hooked = await one("hooked", "hooked");
  return { first, many: { install, unchanged, upgrade }, hooked };
}

/** An OCIRepository with the chart, ready. */
async function chartSource(peer: Peer, name: string, files: ChartFiles): Promise<void> {
  const to = { host: peer.registry, repository: name };
  const { revision } = await pushChart(files, to, AbortSignal.timeout(patienceMs));
  const layerSelector = { mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", operation: "copy" };
  const url = `oci://${peer.registry}/${name}`;
  await apply(peer, "OCIRepository", name, {
    ...{ interval: "1h", url, insecure: true, ref: { tag: version } },
    layerSelector,
  });
  await until(peer, "OCIRepository", name, (live) => JSON.stringify(live["status"]).includes(revision));
}

function applyRelease(
  peer: Peer,
  name: string,
  chart: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const chartRef = { kind: "OCIRepository", name: chart };
  return apply(peer, "HelmRelease", name, { interval: "1h", releaseName: name, chartRef, values });
}

function isReadyWith({ metadata, status }: HelmRelease, revision: number): boolean {
  const condition = findCondition(status.conditions ?? [], "Ready");
  const isSeen = status.observedGeneration === metadata.generation && condition?.status === "True";
  return isSeen && status.history?.[0]?.version === revision;
}

/** Until this holds for each of the 50. */
async function untilAll({ cluster }: Peer, holds: (release: HelmRelease) => boolean): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  for (;;) {
    const live = await cluster.list({ ...served("HelmRelease"), namespace }, signal);
    const ours = live.filter(({ metadata }) => names.includes(metadata.name));
    if (ours.filter((one) => holds(parseHelmRelease(one))).length === count) return;
    await systemClock.sleep(lookAgainMs, signal);
  }
}
