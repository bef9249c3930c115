import type { AlertSeverity, CanaryPhase, CanaryStatus } from "../../api/canary.ts";
import { declaredCanary } from "../../api/kinds/canary.ts";
import { servedKind } from "../../api/kinds/declaration.ts";
import { feasible } from "../../canary/analysis.ts";
import { type Canary, providerOf } from "../../canary/canary.ts";
import { canaryManager, type StepDeps } from "../../canary/canary-deps.ts";
import { hookTime } from "../../canary/hooks/hook-timeout.ts";
import type { CookieChanges, Router, Routes } from "../../canary/routes/router.ts";
import type { At } from "../../canary/run/phase-status.ts";
import type { Scaler, Workload } from "../../canary/workload/workload.ts";
import { refOf } from "../../core/manifest.ts";
import type { Cluster } from "../../core/ports/cluster.ts";
import type { HomeCluster, TargetCluster } from "../../core/ports/home-and-target.ts";
import type { Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import { reportEvent } from "../record-event.ts";
import { statusPatch } from "../status-patch.ts";
import type { Carried } from "./carried.ts";
import type { Handled } from "./by-hand.ts";
import type { CanaryDeps, CanaryParts } from "./canary-parts.ts";

/** A Canary as our flow reads it. */
export const servedCanary = servedKind(declaredCanary);

/** One step of a Canary: its object, its messages and its writes so far. */
export interface CanaryContext {
  readonly canary: Canary;
  readonly run: Run;
  /** What the run before has passed on. */
  readonly carried: Carried;
  readonly deps: CanaryDeps;
  readonly home: HomeCluster;
  readonly step: StepDeps;
  readonly parts: CanaryParts;
  readonly workload: Workload;
  readonly scaler: Scaler | undefined;
  /** The manual requests that earlier runs have handled, by annotation. */
  readonly handled: Handled;
  /** Who routes its traffic. */
  readonly provider: string;
  /** The phase in the status at the beginning of the step. */
  readonly phase: CanaryPhase;
  /** The status after this step's writes. */
  status(): CanaryStatus;
  /** Keeps a status that is written with the next one. */
  note(status: CanaryStatus): void;
  /** Writes what differs from the status in the cluster. */
  write(status: CanaryStatus): Promise<void>;
  at(): At;
  /** Whether the step has neither said nor written anything. */
  isQuiet(): boolean;
  /** Sets the routes; what that changes in the status is written with it next. */
  setRoutes(router: Router, routes: Routes): Promise<void>;
  /**
   * An Event of the Canary, which is also sent to its event hooks. @param phase sent to the hooks; the phase at the beginning of the
   * step by default
   */
  say(type: "Normal" | "Warning", message: string, phase?: CanaryPhase): Promise<void>;
  /** The same, unless the run before this one has said so already. */
  sayOnce(type: "Normal" | "Warning", message: string): Promise<void>;
  /** The event that the step reports once; undefined if none. */
  saidOnce(): string | undefined;
  alert(message: string, severity: AlertSeverity, hasFields?: boolean): Promise<void>;
}

export function canaryContext(canary: Canary, carried: Carried, run: Run, deps: CanaryDeps): CanaryContext {
  const { clock, log, parts, settings } = deps;
  const { handled = {}, memory, outage } = carried;
  const home = leasedCluster(deps.home, run);
  const cluster = leased(deps.clusterOf(canary.live), run);
  // A run that an outage has ended may have been woken by a change.
  const isUnchanged = !run.isRequested && run.isRetry !== true && outage === undefined;
  const step: StepDeps = {
    ...{ cluster, settings, clock, hooksLeftMs: hookTime(clock), log, signal: run.signal },
    ...(isUnchanged ? { memory } : {}),
  };
  const phase = canary.status.phase ?? "Initializing";
  const { spec } = canary;
  let written = canary.status;
  let status = written;
  let isQuiet = true;
  const write = async (next: CanaryStatus): Promise<void> => {
    const body = statusPatch(written, next);
    status = next;
    if (body === undefined) return;
    isQuiet = false;
    const options = { manager: canaryManager, subresource: "status" };
    await home.patch(refOf(canary.live), { type: "merge", body: { status: body } }, options, run.signal);
    written = next;
  };
  let once: string | undefined;
  const say: CanaryContext["say"] = async (type, message, told = phase) => {
    isQuiet = false;
    await reportEvent(
      home,
      canary.live,
      { type, reason: "Synced", message, annotations: {} },
      canaryManager,
      run,
      deps,
    );
    await parts.eventHooks(present(), step).send({ type, message }, told);
  };
  // Flagger's hooks tell the revision that the status names at the time.
  const present = (): Canary => ({ ...canary, status });
  return {
    ...{ canary, carried, handled, run, deps, home, step, parts, phase, write },
    workload: parts.workload(canary, step),
    scaler: parts.scaler(canary, step),
    provider: providerOf(canary, settings),
    isQuiet: () => isQuiet,
    status: () => status,
    note: (next) => {
      status = next;
    },
    at: () => ({ kind: spec.targetRef.kind, now: clock.now() }),
    setRoutes: async (router, routes) => {
      status = withCookies(status, await router.setRoutes(routes));
    },
    say,
    sayOnce: async (type, message) => {
      if (carried.told !== message) await say(type, message);
      once = message;
    },
    saidOnce: () => once,
    alert: (message, severity, hasFields = false) =>
      parts.alerts(present(), step).send({ message, severity, hasFields }),
  };
}

function leased(cluster: HomeCluster | TargetCluster, run: Run): Cluster {
  return cluster.role === "home" ? leasedCluster(cluster, run) : leasedCluster(cluster, run);
}

/** An empty cookie counts as none. */
function withCookies(status: CanaryStatus, changes: CookieChanges): CanaryStatus {
  const {
    previousSessionAffinityCookie = "",
    primarySessionAffinityCookie = "",
    sessionAffinityCookie = "",
    ...rest
  } = { ...status, ...changes };
  return {
    ...rest,
    ...(previousSessionAffinityCookie === "" ? {} : { previousSessionAffinityCookie }),
    ...(primarySessionAffinityCookie === "" ? {} : { primarySessionAffinityCookie }),
    ...(sessionAffinityCookie === "" ? {} : { sessionAffinityCookie }),
  };
}

/** The analysis that the provider supports, with the Warnings about changes. */
export function feasibleAnalysis({ canary, provider }: Pick<CanaryContext, "canary" | "provider">) {
  return feasible(canary.analysis, provider);
}

/** Whether a Canary is promoted without analysis. */
export function skipsAnalysis({ spec }: Pick<Canary, "spec">): boolean {
  return spec.skipAnalysis === true;
}

/** Whether a changed ConfigMap or Secret of the target begins a run. A Service has none. */
export function tracksConfigs({ canary, deps }: Pick<CanaryContext, "canary" | "deps">): boolean {
  return deps.settings.tracksConfigs && canary.spec.targetRef.kind !== "Service";
}
