import type { ReleaseSnapshot } from "../api/helm-release-status.ts";
import type { HookRun, ObservedRelease } from "../core/ports/helm-engine.ts";

export type ReleaseAction = NonNullable<ReleaseSnapshot["action"]>;

/** As Flux writes times: in whole seconds. */
function seconds(time: string): string {
  return `${new Date(time === "" ? 0 : time).toISOString().slice(0, 19)}Z`;
}

/** What the status remembers of a revision (reference helmrelease 13). `ociDigest`: of the chart's artifact; empty for none. */
export function snapshotOf(
  observed: ObservedRelease,
  {
    action,
    configDigest,
    ociDigest,
  }: { readonly action?: ReleaseAction; readonly configDigest?: string; readonly ociDigest: string },
): ReleaseSnapshot {
  const { appVersion = "" } = observed.chart;
  return {
    apiVersion: "v2",
    digest: observed.digest,
    name: observed.name,
    namespace: observed.namespace,
    version: observed.version,
    status: observed.status,
    ...(action === undefined ? {} : { action }),
    chartName: observed.chart.name,
    chartVersion: observed.chart.version,
    ...(appVersion === "" ? {} : { appVersion }),
    configDigest: configDigest ?? observed.configDigest,
    firstDeployed: seconds(observed.firstDeployed),
    lastDeployed: seconds(observed.lastDeployed),
    ...(observed.deleted === "" ? {} : { deleted: seconds(observed.deleted) }),
    ...(ociDigest === "" ? {} : { ociDigest }),
  };
}

/** The tests of a release with their last run, by name; one that a filter leaves out has none. */
export function testHooksOf({ hooks }: ObservedRelease): NonNullable<ReleaseSnapshot["testHooks"]> {
  const tests = hooks.filter(({ events }) => events.includes("test"));
  return Object.fromEntries(tests.map(({ name, lastRun }) => [name, testHook(lastRun)]));
}

function testHook({ startedAt = "", completedAt = "", phase }: HookRun) {
  if (startedAt === "") return {};
  return {
    lastStarted: seconds(startedAt),
    ...(completedAt === "" ? {} : { lastCompleted: seconds(completedAt) }),
    phase,
  };
}

/** `namespace/name.vN`. */
export function fullReleaseName({ namespace, name, version }: ReleaseSnapshot): string {
  return `${namespace}/${name}.v${version}`;
}

/** `chart@version`. */
export function versionedChart({ chartName, chartVersion }: ReleaseSnapshot): string {
  return `${chartName}@${chartVersion}`;
}

/** Whether the tests of this revision have run: none there, any failed, or all succeeded. */
export function isTested({ testHooks }: ReleaseSnapshot): boolean {
  if (testHooks === undefined) return false;
  const phases = Object.values(testHooks).flatMap(({ phase }) => phase ?? []);
  return phases.includes("Failed") || phases.every((phase) => phase === "Succeeded");
}

/** Whether a test of this revision has failed. */
export function hasFailedTest({ testHooks = {} }: ReleaseSnapshot): boolean {
  return Object.values(testHooks).some(({ phase }) => phase === "Failed");
}

export type History = readonly ReleaseSnapshot[];

function newestFirst(history: History): History {
  return history.toSorted((a, b) => b.version - a.version);
}

/** The newest revision before the latest that may be rolled back to. */
export function previousGood(history: History, ignoresTests: boolean): ReleaseSnapshot | undefined {
  return newestFirst(history)
    .slice(1)
    .find((one) => isGood(one, ignoresTests));
}

function isGood(one: ReleaseSnapshot, ignoresTests: boolean): boolean {
  const isReleased = one.status === "deployed" || one.status === "superseded";
  return isReleased && (ignoresTests || !hasFailedTest(one));
}

const maxKept = 5;

/** The history down to the revision that may be rolled back to, or the newest five where there is none. */
export function truncated(history: History, ignoresTests: boolean): History {
  const sorted = newestFirst(history);
  if (sorted.length < 2) return sorted;
  const previous = previousGood(sorted, ignoresTests);
  const end = previous === undefined ? maxKept : sorted.indexOf(previous) + 1;
  return sorted.slice(0, end);
}

/** The newest five: where failures are retried and never rolled back. */
export function newest(history: History): History {
  return newestFirst(history).slice(0, maxKept);
}
