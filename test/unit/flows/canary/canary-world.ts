import type { CanaryWebhook } from "../../../../lib/api/canary.ts";
import type { CheckResult } from "../../../../lib/canary/metrics/checks.ts";
import type { Routes } from "../../../../lib/canary/routes/router.ts";
import { readStatus } from "../../../../lib/canary/run/read-status.ts";
import { type CanarySettings, defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import { StepFault } from "../../../../lib/canary/step-fault.ts";
import type { Readiness } from "../../../../lib/canary/workload/workload.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { isJsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import type { ApiError, Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { canaryFlow } from "../../../../lib/flows/canary/canary-flow.ts";
import type { CanaryDeps, CanaryParts } from "../../../../lib/flows/canary/canary-parts.ts";
import { mergePatch } from "../../../../packages/embedded-kubernetes/src/patch/merge-patch.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { steppedClock } from "../../../doubles/stepped-clock.ts";

/** The process ends here. */
export class Killed extends TypeError {}

const primaryOnly: Routes = { primary: 100, canary: 0, isMirrored: false };

/** What the field report has, with an interval that is ten seconds. */
export const fieldReport: JsonObject = {
  targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
  service: { port: 9898 },
  analysis: { interval: "10s", threshold: 2, maxWeight: 50, stepWeight: 25 },
};

interface Side {
  template: string;
  replicas: number;
  isReady: boolean;
  isStuck: boolean;
}

/** A Canary with a world of its own: target, primary, Services and routes are numbers and flags that tests set, and that settle between steps. */
export function canaryWorld(spec: JsonObject = {}, settings: Partial<CanarySettings> = {}) {
  const clock = steppedClock();
  const log = recordedLog();
  const metrics = recordedMetrics();
  const state = {
    target: { template: "one", replicas: 2, isReady: true, isStuck: false } as Side,
    primary: undefined as Side | undefined,
    isTargetThere: true,
    /** Whether anything keeps the template that was last promoted, beside primary and target. */
    isPromotedKept: true,
    /** Whether pods that are not ready have served before. */
    isLost: true,
    configs: {} as Record<string, string>,
    hasServices: false,
    hasApex: false,
    routes: undefined as Routes | undefined,
    isPaused: undefined as boolean | undefined,
    /** What a hook answers, by its name; it passes where there is nothing. */
    refusals: new Map<string, string>(),
    checks: [] as CheckResult[],
    probe: undefined as string | undefined,
    fault: undefined as string | undefined,
    /** Writes that are made before the process ends. */
    writesLeft: Number.POSITIVE_INFINITY,
    carried: undefined as JsonObject | undefined,
    /** What the API server answers to each write of the Canary. */
    writeFault: undefined as ApiError | undefined,
    isRetry: false,
    others: [] as LiveObject[],
  };
  const writes: string[] = [];
  /** In order: events as `Normal: text`, alerts as `alert warn: text`, hooks as `hook NAME PHASE`, metrics as `metrics`. */
  const said: string[] = [];
  const harm: string[] = [];
  const subscribed: string[][] = [];
  let live: LiveObject | undefined = {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata: {
      ...{ name: "podinfo", namespace: "apps", uid: "canary-1", resourceVersion: "1", generation: 1 },
      creationTimestamp: "2026-11-01T00:00:00Z",
    },
    spec: { ...fieldReport, ...spec, analysis: { threshold: 2, ...analysisOf(spec) } },
  };

  const write = (what: string): void => {
    if (state.writesLeft <= 0) throw new Killed(what);
    state.writesLeft -= 1;
    writes.push(what);
  };
  const cluster: Cluster = {
    ...noCluster,
    get: async ({ kind }) => (kind === "Canary" ? live : state.isTargetThere ? live : undefined),
    list: async () => [...(live === undefined ? [] : [live]), ...state.others],
    async create(manifest) {
      said.push(`${String(manifest["type"])}: ${String(manifest["message"])}`);
      return { ...manifest, metadata: { ...manifest.metadata, uid: "event" } };
    },
    async patch(_ref, { body }, { subresource = "canary" }) {
      if (live === undefined || !isJsonObject(body)) throw new Error("the test did not expect this patch");
      if (state.writeFault !== undefined) throw state.writeFault;
      write(subresource);
      const patched: LiveObject = { ...live, ...(mergePatch(toObject(live), body) as Partial<LiveObject>) };
      live = patched;
      const isGone = patched.metadata.deletionTimestamp !== undefined && patched.metadata.finalizers?.length === 0;
      if (isGone) live = undefined;
      return patched;
    },
  };
  const serves = (side: Side | undefined): boolean => side !== undefined && side.isReady && side.replicas > 0;
  const readiness = (side: Side | undefined, prefix: string): Readiness => {
    if (side === undefined) throw new StepFault(`deployment ${prefix} get query error: not found`);
    if (side.isReady && !side.isStuck) return { isReady: true };
    const message = side.isStuck
      ? `${prefix} not ready: deployment exceeded its progress deadline`
      : `${prefix} not ready: waiting for rollout to finish: observed deployment generation less than desired generation`;
    return { isReady: false, message, isRetriable: !side.isStuck, isLost: state.isLost && !side.isStuck };
  };
  /** When the run began in which the primary got its template. */
  let promotedIn: string | undefined;
  const begunAt = () => self.status().conditions?.[0]?.lastTransitionTime;
  const provider = spec["provider"] ?? "gatewayapi:v1";
  const parts: CanaryParts = {
    workload: () => ({
      async metadata() {
        if (state.fault !== undefined) throw new StepFault(state.fault);
        if (!state.isTargetThere) throw new StepFault("deployment podinfo.apps get query error: not found");
        return { label: "app", labelValue: "podinfo", ports: new Map() };
      },
      async metadataWithoutTarget() {
        return state.isTargetThere ? undefined : { label: "app", labelValue: "podinfo", ports: new Map() };
      },
      async ensurePrimary() {
        if (state.primary !== undefined) return;
        write("primary");
        state.primary = { ...state.target, replicas: Math.max(1, state.target.replicas), isReady: false };
      },
      async restorePrimary() {
        const { lastPromotedSpec, phase = "Initializing" } = self.status();
        const isOfTarget = ["Initializing", "Promoting", "Finalising"].includes(phase);
        if (state.primary !== undefined || isOfTarget || lastPromotedSpec === undefined) return undefined;
        const isKept = state.isPromotedKept || state.target.template === lastPromotedSpec;
        if (!isKept) return { kind: "lost", text: "deployment podinfo-primary.apps is gone" };
        write("primary");
        state.primary = { template: lastPromotedSpec, replicas: 2, isReady: false, isStuck: false };
        return { kind: "restored", text: "deployment podinfo-primary.apps was gone" };
      },
      primaryReadiness: async () => readiness(state.primary, "podinfo-primary.apps"),
      canaryReadiness: async () => readiness(state.target, "canary deployment podinfo.apps"),
      revision: async () => ({ spec: state.target.template, configs: { ...state.configs } }),
      isAtZero: async () => state.target.replicas === 0,
      isPromoted: async () => state.primary?.template === state.target.template && promotedIn === begunAt(),
      async promote() {
        if (state.primary === undefined || state.primary.template === state.target.template) return;
        write("promote");
        promotedIn = begunAt();
        state.primary = { ...state.primary, template: state.target.template, isReady: false };
      },
      async scaleToZero() {
        if (state.target.replicas === 0) return;
        if (!state.hasApex && state.primary?.isStuck !== true) harm.push("target at zero before the apex Service");
        if (state.routes === undefined && provider !== "kubernetes") harm.push("target at zero before the route");
        if ((state.routes?.canary ?? 0) > 0) harm.push("target at zero while it has traffic");
        write("scale to zero");
        state.target = { ...state.target, replicas: 0, isReady: true };
      },
      async scaleFromZero() {
        if (state.target.replicas > 0) return;
        write("scale from zero");
        state.target = { ...state.target, replicas: 2, isReady: false };
      },
      async finalize() {
        if (state.target.replicas > 0) return;
        write("scale back");
        state.target = { ...state.target, replicas: state.primary?.replicas ?? 1, isReady: false };
      },
    }),
    scaler: ({ spec: { autoscalerRef } }) =>
      autoscalerRef === undefined
        ? undefined
        : {
            ensurePrimary: async (isInitial) => void said.push(`primary scaler ${isInitial ? "made" : "updated"}`),
            async pauseTarget() {
              if (state.isPaused === true) return;
              write("pause");
              state.isPaused = true;
            },
            async resumeTarget() {
              if (state.isPaused !== true) return;
              write("resume");
              state.isPaused = false;
            },
          },
    router: (canary) => ({
      async ensure({ weight } = {}) {
        if (
          provider === "kubernetes" ||
          (state.routes !== undefined && (weight ?? state.routes.canary) === state.routes.canary)
        ) {
          return;
        }
        const canary = weight ?? 0;
        write("route");
        state.routes = { primary: 100 - canary, canary, isMirrored: false };
      },
      async routes() {
        if (provider === "kubernetes") {
          return (canary.status.iterations ?? 0) > 0 ? { primary: 0, canary: 100, isMirrored: false } : primaryOnly;
        }
        if (state.routes === undefined) throw new StepFault('HTTPRoute podinfo.apps get error: "podinfo" not found');
        return state.routes;
      },
      async setRoutes(routes) {
        if (provider === "kubernetes") return {};
        const before = state.routes ?? primaryOnly;
        if (JSON.stringify(before) === JSON.stringify(routes)) return {};
        if (routes.primary + routes.canary !== 100) harm.push(`weights ${routes.primary}/${routes.canary}`);
        if (routes.canary > before.canary && !serves(state.target)) harm.push("traffic to a canary that is not ready");
        if (routes.primary > before.primary && !serves(state.primary)) harm.push("traffic to an unready primary");
        write(`routes ${routes.primary}/${routes.canary}${routes.isMirrored ? " mirrored" : ""}`);
        state.routes = routes;
        return {};
      },
      finalize: async () => write("route given back"),
    }),
    services: () => ({
      async ensureOwn() {
        if (state.hasServices) return;
        write("services");
        state.hasServices = true;
      },
      async ensureApex() {
        if (state.hasApex) return;
        if (!serves(state.primary)) harm.push("the apex Service selects a primary that is not ready");
        write("apex");
        state.hasApex = true;
      },
      finalize: async () => write("apex given back"),
    }),
    metrics: () => ({
      async check() {
        said.push("metrics");
        return state.checks.shift() ?? { isPassed: true };
      },
      async probe() {
        if (state.probe !== undefined) throw new Error(state.probe);
      },
    }),
    hooks: () => ({
      async call({ name }: CanaryWebhook, phase) {
        said.push(`hook ${name} ${phase}`);
        const why = state.refusals.get(name);
        if (why !== undefined) throw new Error(why);
      },
    }),
    eventHooks: () => ({ send: async () => undefined }),
    alerts: () => ({ send: async ({ message, severity }) => void said.push(`alert ${severity}: ${message}`) }),
  };
  const key: WorkKey = { cluster: "here", group: "flagger.app", kind: "Canary", namespace: "apps", name: "podinfo" };
  const deps = (): CanaryDeps => ({
    home: asHome(cluster),
    clusterOf: () => asHome(cluster),
    clock,
    log,
    metrics,
    subscriptions: {
      subscribe: async (topics) => void subscribed.push(topics.map(String)),
      subscribers: async () => [],
      followers: async () => [],
    },
    settings: { ...defaultCanarySettings, meshProvider: "gatewayapi:v1", ...settings },
    parts: { ...parts, ...self.replaced },
  });

  const self = {
    clock,
    log,
    metrics,
    state,
    writes,
    said,
    harm,
    subscribed,
    /** Parts that a test replaces. */
    replaced: {} as Partial<CanaryParts>,
    parts: () => parts,
    live: () => live,
    status: () => readStatus(live?.["status"]).status,
    /** Changes the spec or metadata of the Canary. */
    change(body: JsonObject): void {
      if (live !== undefined) live = { ...live, ...(mergePatch(toObject(live), body) as Partial<LiveObject>) };
    },
    /** Rollouts end. */
    settle(): void {
      if (state.primary !== undefined) state.primary = { ...state.primary, isReady: true };
      state.target = { ...state.target, isReady: true };
    },
    /** Writes and words since the last call. */
    news(): readonly string[] {
      writes.length = 0;
      return said.splice(0);
    },
    /** One run of the flow. */
    async run({ isRequested = false }: { isRequested?: boolean } = {}): Promise<FlowResult> {
      const lease = checkedLease(() => undefined);
      const now = deps();
      const home = lease.checked(now.home);
      const flow = canaryFlow({ ...now, home, clusterOf: () => home });
      const result = await flow({
        key,
        fence: { key, token: 1 },
        signal: untilDeadline(),
        assertLease: lease.assertLease,
        carried: state.carried,
        isRequested,
        isRetry: state.isRetry,
        superseded: async () => false,
      });
      state.carried = result.carried;
      state.isRetry = false;
      return result;
    },
    /** The next step in time, with the world settled before it. */
    async tick(ms = 10_000): Promise<FlowResult> {
      clock.pass(ms);
      self.settle();
      return self.run();
    },
    /** Initialised and at rest. */
    async initialised(): Promise<void> {
      await self.run();
      await self.tick();
      self.news();
    },
    /** The next template of the target, seen by a run. */
    async begun(template = "two"): Promise<void> {
      await self.initialised();
      state.target.template = template;
      await self.run({ isRequested: true });
      self.news();
    },
    /** `Progressing w25 f1 75/25` and the like. */
    now(): string {
      const { canaryWeight = 0, failedChecks = 0, iterations = 0, phase } = self.status();
      const counters = [
        ...(canaryWeight === 0 ? [] : [`w${canaryWeight}`]),
        ...(iterations === 0 ? [] : [`i${iterations}`]),
        ...(failedChecks === 0 ? [] : [`f${failedChecks}`]),
      ];
      const routes = state.routes === undefined ? [] : [`${state.routes.primary}/${state.routes.canary}`];
      return [phase ?? "none", ...counters, ...routes].join(" ");
    },
  };
  return self;
}

function analysisOf({ analysis = fieldReport["analysis"] ?? {} }: JsonObject): JsonObject {
  if (!isJsonObject(analysis)) throw new Error("an analysis is an object");
  return analysis;
}

function toObject(live: LiveObject): JsonObject {
  const parsed: unknown = JSON.parse(JSON.stringify(live));
  if (!isJsonObject(parsed)) throw new Error("an object is an object");
  return parsed;
}
