import { declaredKustomization } from "../../api/kinds/kustomization.ts";
import { effectiveTimeoutMs } from "../../api/kustomization.ts";
import { ownerSelector } from "../../api/names.ts";
import type { Pending } from "../../apply/apply-all.ts";
import type { AppliedObject } from "../../apply/apply-object.ts";
import { lookAFewTimes } from "../../apply/poll.ts";
import { mayVanish } from "../../apply/terminating.ts";
import { Failure } from "../../core/failure.ts";
import { refOf } from "../../core/manifest.ts";
import { parseApiVersion, subject } from "../../core/object-ref.ts";
import type { FlowResult } from "../../core/ports/run.ts";
import {
  type HealthTarget,
  checkHealth as lookAtHealth,
  type Unhealthy,
  unknownText,
  type Verdict,
  verdict,
} from "../../health/check-health.ts";
import type { HealthRules } from "../../health/health-rules.ts";
import { maskSecrets } from "../../manifests/secrets.ts";
import { accountUser } from "../owner/service-account.ts";
import { type AppliedRevision, changeLines } from "./apply.ts";
import {
  type Attempt,
  attempted,
  elapsedText,
  nextDeletionLookMs,
  nextLookMs,
  progressText,
  StepFailed,
  step,
  type Wait,
  waitFor,
} from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import { handled, inProgress, withConditions } from "./status.ts";

/** How the last step ended: a later run looks again, or the revision is applied and healthy. */
export type Health =
  | { readonly kind: "waiting"; readonly result: FlowResult }
  | {
      readonly kind: "healthy";
      readonly wait: Wait;
      /** `Health check passed in …`, or undefined if there was nothing to check. */
      readonly message: string | undefined;
      /** The objects of unknown health, with the reasons; undefined if there are none. */
      readonly unknown: string | undefined;
    };

const manager = declaredKustomization.statusManager;

/** How long a stage of definitions may take to be served: Flux's own limit. */
const stageTimeoutMs = 60_000;

/** The last step: what was applied becomes healthy, or the attempt fails, or a later run looks again. */
export const checkHealth = step(async (revision: AppliedRevision, attempt: Attempt): Promise<Health> => {
  const { applied, pending } = revision;
  const { ctx } = attempt;
  if (pending !== undefined) return awaitPending(pending, revision, attempt);
  const wait = waitFor("health", changeLines(applied).length > 0, attempt);
  const targets = await healthTargets(applied, attempt);
  if (typeof targets === "string") throw unhealthy(targets, wait, revision, attempt);
  if (targets.length === 0) return { kind: "healthy", wait, message: undefined, unknown: undefined };
  const outcome = await awaitHealth(targets, wait, attempt, () => reportHealthWait(revision, attempt)).catch(
    (error: unknown) => {
      throw error instanceof Failure ? unhealthy(error.message, wait, revision, attempt) : error;
    },
  );
  switch (outcome.kind) {
    case "healthy":
      return {
        kind: "healthy",
        wait,
        message: `Health check passed in ${elapsedText(attempt, wait.since)}`,
        unknown: unknownText(outcome.unknown),
      };
    case "waiting":
      return lookAgainLater(wait, nextLookMs);
    case "failed":
    case "timedOut":
      throw unhealthy(outcome.message, wait, revision, attempt, await afterFailure(outcome, ctx));
  }
});

/** @param why lines that follow Flux's text */
function unhealthy(
  message: string,
  wait: Wait,
  revision: AppliedRevision,
  attempt: Attempt,
  why: readonly string[] = [],
): StepFailed {
  const text = `health check failed after ${elapsedText(attempt, wait.since)}: ${message}`;
  return new StepFailed(new Failure("HealthCheckFailed", [text, ...why].join("\n")), revision, message);
}

/** Bars the images that are why the objects are not healthy. Answers the lines that follow Flux's text. */
async function afterFailure(
  { notCurrent, unhealthy: objects }: Pick<Unhealthy, "notCurrent" | "unhealthy">,
  { deps, home, live, namespace, run, target }: KustomizationContext,
): Promise<readonly string[]> {
  const { barUnhealthy } = await import("../owner/bar-unhealthy.ts");
  const owner = { namespace, subject: subject(refOf(live)) };
  const barred = await barUnhealthy(notCurrent, owner, { home, target, manager }, run.signal);
  if (!deps.explainHealthFailures) return barred;
  const { whyNotReady } = await import("../../health/why-not-ready.ts");
  return [...(await whyNotReady(objects, target, run.signal)), ...barred];
}

async function reportHealthWait({ status }: AppliedRevision, attempt: Attempt): Promise<void> {
  const { ctx } = attempt;
  const message = progressText("health", attempt);
  const healthy = { type: "Healthy", status: "Unknown", reason: "Progressing", message } as const;
  const progress = inProgress(status, message, ctx);
  await ctx.write(handled(attempted(withConditions(progress, ctx, healthy), attempt), ctx));
}

/** Something is not served yet, or has to be gone first: reports it and runs again soon, within limits. */
async function awaitPending(
  { why, on }: Pending,
  { applied, built, status }: AppliedRevision,
  attempt: Attempt,
): Promise<Health> {
  const { ctx } = attempt;
  const wait = waitFor(on === "stage" ? "apply" : "deletion", changeLines(applied).length > 0, attempt);
  const limitMs = on === "stage" ? stageTimeoutMs : effectiveTimeoutMs(ctx.kustomization.spec);
  if (ctx.deps.clock.now() - wait.since >= limitMs) throw new Failure("ReconciliationFailed", `${why}\n`);
  const progress = inProgress(status, maskSecrets(why, built), ctx);
  await ctx.write(attempted(progress, attempt));
  return lookAgainLater(wait, on === "stage" ? nextLookMs : nextDeletionLookMs);
}

function lookAgainLater(wait: Wait, pace: (looks: number) => number): Health {
  const carried = { failures: 0, wait: { ...wait, looks: wait.looks + 1 } };
  return { kind: "waiting", result: { outcome: "waiting", dueInMs: pace(wait.looks), carried } };
}

/**
 * The objects that must become healthy before the Kustomization is Ready: with `wait` everything applied, else those in
 * `healthChecks`; never the Kustomization itself. An error text where a named object cannot be looked for (reference 3.17).
 */
async function healthTargets(
  applied: readonly AppliedObject[],
  { ctx, healthRules }: Attempt,
): Promise<readonly HealthTarget[] | string> {
  const { wait, healthChecks = [] } = ctx.kustomization.spec;
  const targets = wait ? appliedTargets(applied, healthRules, ctx) : await namedTargets(healthChecks, healthRules, ctx);
  if (typeof targets === "string") return targets;
  if (ctx.homeUid !== ctx.owner.clusterUid) return targets;
  return targets.filter(({ ref }) => {
    return !(ref.kind === "Kustomization" && ref.name === ctx.name && ref.namespace === ctx.namespace);
  });
}

function targetOf({ desired: { ref, manifest }, change }: AppliedObject): readonly HealthTarget[] {
  return change === "skipped" ? [] : [{ ref, mayVanish: mayVanish(manifest) }];
}

/**
 * The applied objects, or an error text for a Secret of another namespace that an expression would read: the author of an object that
 * is applied with Sluice's own rights may have no right to read it.
 */
function appliedTargets(
  applied: readonly AppliedObject[],
  healthRules: HealthRules,
  ctx: KustomizationContext,
): readonly HealthTarget[] | string {
  const targets = applied.flatMap(targetOf);
  const unreadable = targets.find(({ ref }) => {
    const isSecretElsewhere = ref.group === "" && ref.kind === "Secret" && ref.namespace !== ctx.namespace;
    return isSecretElsewhere && healthRules.ruleOf(ref) !== undefined && !mayReadElsewhere(ref, ctx);
  });
  return unreadable === undefined ? targets : mayNotRead(unreadable.ref);
}

type HealthCheck = {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
};

async function namedTargets(
  checks: readonly HealthCheck[],
  healthRules: HealthRules,
  ctx: KustomizationContext,
): Promise<readonly HealthTarget[] | string> {
  const { target, run } = ctx;
  const targets: HealthTarget[] = [];
  for (const { apiVersion = "", kind, name, namespace = "" } of checks) {
    // Only the group counts; the version is the one that the cluster prefers.
    const { group, version } = parseApiVersion(apiVersion === "" ? "apps/v1" : apiVersion);
    const resource = await target.resource({ group, kind }, run.signal);
    if (resource?.namespaced && namespace === "") {
      const groupKind = group === "" ? kind : `${kind}.${group}`;
      return `resource ${groupKind} ${name} is namespace scoped, but namespace is not set`;
    }
    const isElsewhere = resource?.namespaced !== false && namespace !== ctx.namespace;
    if (isElsewhere && healthRules.ruleOf({ group, kind }) !== undefined && !mayReadElsewhere({ group, kind }, ctx)) {
      return mayNotRead({ kind, namespace, name });
    }
    // A kind that the cluster does not serve yet may be added during the wait.
    targets.push({ ref: { group, version: resource?.version ?? version, kind, namespace, name }, mayVanish: false });
  }
  return targets;
}

/**
 * Whether an expression may read objects of this kind in other namespaces than the Kustomization's: those of its service account
 * decide, or those of `spec.kubeConfig`. With Sluice's own rights, an expression could read an object bit by bit although its author
 * has no right to it.
 */
function mayReadElsewhere(
  { group, kind }: Pick<HealthTarget["ref"], "group" | "kind">,
  { deps, live, remote }: KustomizationContext,
): boolean {
  if (remote !== undefined || accountUser(live, deps.defaultServiceAccount) !== undefined) return true;
  return !deps.noCrossNamespaceRefs && !(group === "" && kind === "Secret");
}

function mayNotRead({ kind, namespace, name }: Pick<HealthTarget["ref"], "kind" | "namespace" | "name">): string {
  const howToRead =
    "name a service account that may read it in spec.serviceAccountName, or check it without an expression";
  return `the expressions of spec.healthCheckExprs may not read ${kind}/${namespace}/${name}, which is in another namespace: ${howToRead}`;
}

/** `timedOut` names what the run waited for. */
type HealthOutcome = Verdict | (Unhealthy & { readonly kind: "timedOut" });

/**
 * Looks at once; in the first run of a wait a few times more within a second, later ones look once. Ends early if a newer request for
 * the same object arrives. `beforeWaiting` is called if the first look was not enough.
 */
async function awaitHealth(
  targets: readonly HealthTarget[],
  wait: Pick<Wait, "since" | "looks">,
  { ctx, healthRules: rules }: Attempt,
  beforeWaiting: () => Promise<void>,
): Promise<HealthOutcome> {
  const { deps, kustomization, run, target } = ctx;
  const labelSelector = kustomization.spec.wait ? ownerSelector(ctx) : undefined;
  const look = async (): Promise<Verdict> => {
    const now = deps.clock.now();
    const selector = labelSelector === undefined ? {} : { labelSelector };
    const at = { now, since: wait.since };
    const observed = await lookAtHealth(targets, { cluster: target, ...at, rules, ...selector }, run.signal);
    return verdict(observed, { isFailFast: !deps.gates.DisableFailFastBehavior });
  };
  let seen: Verdict | undefined;
  const lookAgain = async (): Promise<Verdict | undefined> => {
    const isFirst = seen === undefined;
    seen = await look();
    if (seen.kind === "waiting" && isFirst) await beforeWaiting();
    return seen.kind !== "waiting" || (await run.superseded()) ? seen : undefined;
  };
  if (wait.looks === 0) await lookAFewTimes(lookAgain, deps.clock, run.signal);
  else await lookAgain();
  const last: Verdict = seen ?? { kind: "healthy", unknown: [] };
  const isOver = deps.clock.now() - wait.since >= effectiveTimeoutMs(kustomization.spec);
  return last.kind === "waiting" && isOver ? { ...last, kind: "timedOut" } : last;
}
