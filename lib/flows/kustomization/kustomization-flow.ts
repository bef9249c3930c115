import { isTrue } from "../../api/condition.ts";
import { type Kustomization, parseKustomization, readForEnd } from "../../api/kustomization.ts";
import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { finalizer, kustomizationStatusManager, kustomizeGroup } from "../../api/names.ts";
import { invalid as invalidObject } from "../../api/parse-live.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import { unsupportedKustomizationFields } from "../../api/unsupported-fields.ts";
import { fencedCluster } from "../../apply/fenced-cluster.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { Flow, FlowResult, Run } from "../../core/run.ts";
import { shortIntervalWarning } from "../short-interval-warning.ts";
import { writeFinalizers } from "../write-finalizers.ts";
import { checkDependencies } from "./check-dependencies.ts";
import type { KustomizationDeps } from "./deps.ts";
import { handled } from "./end-of-run.ts";
import { finalize } from "./finalize.ts";
import { saveUnderGeneration } from "./inventory-of.ts";
import { listenForRun } from "./listen-for-run.ts";
import { readMemo } from "./memo.ts";
import type { Blocked } from "./outcome.ts";
import { reconcileRevision } from "./reconcile-revision.ts";
import { reportBlocked } from "./report-blocked.ts";
import { type ResolvedSource, resolveSource, sourceRefusal } from "./resolve-source.ts";
import { type SubjectOfRun, subjectOfRun } from "./subject-of-run.ts";

/**
 * The reconcile of a Kustomization: load, gate, fetch, build, plan, apply, prune, health, report. Looks only at present
 * state, so a run may be repeated, lost, doubled or killed anywhere.
 */
export function kustomizationFlow(deps: KustomizationDeps): Flow {
  return (run) => reconcile(run, deps);
}

async function reconcile(run: Run, deps: KustomizationDeps): Promise<FlowResult> {
  const of = await load(run, deps);
  if (of === undefined) return { outcome: "absent", dueInMs: undefined };
  if ("kind" in of) return of.result;
  if (of.live.metadata.deletionTimestamp !== undefined) return finalize(of, readMemo(run.memo));
  if (!(of.live.metadata.finalizers ?? []).includes(finalizer)) {
    const withOurs = (finalizers: readonly string[]) => [...finalizers, finalizer];
    const { cluster, live } = of;
    await writeFinalizers(live, withOurs, { cluster, manager: kustomizationStatusManager }, run.signal);
  }
  if (of.kustomization.spec.suspend === true) return suspended(of);
  await warnOfShortInterval(of);
  const refusal = refusalOf(of);
  if (refusal !== undefined) {
    // Nothing that happens elsewhere can help, and when another tenant pushes is none of this object's business.
    await of.deps.edges.listen([], run.fence, run.signal);
    return reportBlocked(of, refusal);
  }
  // Edges first, then the look: a source or dependency that turns ready in between still wakes this object.
  await listenForRun(of);
  const source = await gate(of);
  return source.kind === "blocked" ? reportBlocked(of, source) : reconcileRevision(of, source);
}

/** Why the references of an object may not even be looked at, or undefined where they may. */
function refusalOf({ kustomization: { spec }, live, namespace, deps }: SubjectOfRun): Blocked | undefined {
  const faults = referenceFaults(spec);
  if (faults.length > 0) return invalid("InvalidSpec", invalidObject(live, "spec", faults).message);
  const refusal = sourceRefusal(spec, namespace, deps);
  return refusal === undefined ? undefined : invalid("AccessDenied", refusal);
}

/** The object and everything a run needs with it; undefined where it is gone, then nobody need tell it anything. */
async function load(
  run: Run,
  deps: KustomizationDeps,
): Promise<SubjectOfRun | { kind: "ended"; result: FlowResult } | undefined> {
  const { key, signal } = run;
  const cluster = fencedCluster(deps.cluster, run);
  const live = await cluster.get({ ...key, group: kustomizeGroup, version: "v1" }, signal);
  if (live === undefined) {
    await deps.edges.listen([], run.fence, signal);
    return undefined;
  }
  const clusterUid = await cluster.uid(signal);
  try {
    return subjectOfRun(live, parseKustomization(live), clusterUid, cluster, { run, deps });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const ending = live.metadata.deletionTimestamp === undefined ? undefined : readForEnd(live);
    if (ending !== undefined) return subjectOfRun(live, ending, clusterUid, cluster, { run, deps });
    const of = subjectOfRun(live, unreadable(live), clusterUid, cluster, { run, deps });
    const { reason, message } = error;
    return { kind: "ended", result: await reportBlocked(of, invalid(reason, message)) };
  }
}

/** Stands for an object whose spec cannot be read: as suspended, so nothing of it can be taken for an instruction. */
function unreadable(live: LiveObject): Kustomization {
  const sourceRef = { kind: "OCIRepository", name: "" } as const;
  return {
    metadata: live.metadata,
    spec: { interval: "1h", prune: false, force: false, suspend: true, sourceRef },
    status: KustomizationStatus.safeParse(live["status"] ?? {}).data ?? {},
  };
}

function invalid(reason: Failure["reason"], message: string): Blocked {
  return { kind: "blocked", reason, message, retry: "never", stalled: true, event: { type: "Warning", message } };
}

async function warnOfShortInterval(of: SubjectOfRun): Promise<void> {
  const { conditions = [] } = of.status();
  const warning = shortIntervalWarning(of.kustomization.spec, { generation: of.generation, conditions });
  if (warning !== undefined) await of.tell(warning);
}

async function suspended(of: SubjectOfRun): Promise<FlowResult> {
  const status = handled(of.status(), of);
  const isReady = isTrue(status.conditions ?? [], "Ready");
  if (isReady) await saveUnderGeneration(of);
  await of.write(isReady ? { ...status, observedGeneration: of.generation } : status);
  return { outcome: "suspended", dueInMs: undefined };
}

/** Everything that may keep a run from its revision, in Flux's order (reference 3.1, steps 5 to 9). */
async function gate(of: SubjectOfRun): Promise<ResolvedSource | Blocked> {
  const fields = unsupportedKustomizationFields(of.kustomization.spec);
  if (fields.length > 0) {
    const message = `${fields.join(", ")} not supported yet: remove it, or leave this Kustomization to Flux until it is`;
    return invalid("UnsupportedField", message);
  }
  const source = await resolveSource(of);
  if (source.kind === "blocked") return source;
  return (await checkDependencies(of, source)) ?? source;
}
