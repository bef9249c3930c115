import { findCondition } from "../../api/condition.ts";
import { readKustomization } from "../../api/kustomization.ts";
import type { KustomizationSpec } from "../../api/kustomization-spec.ts";
import { kustomizeGroup } from "../../api/names.ts";
import { Failure } from "../../core/failure.ts";
import { configTopic, readyTopic, sourceTopic } from "../../core/topics.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import { keysOf } from "../owner/dependency-cycle.ts";
import { kubeConfigTopics } from "../owner/elsewhere.ts";
import { suspendedText } from "../owner/suspended-dependency.ts";
import { type Blocked, invalid, type KustomizationContext, type KustomizationDeps } from "./context.ts";
import { isReady, kustomizationCycleText } from "./dependency-cycle.ts";
import { type ResolvedSource, requeueText, sourceKey } from "./resolve-source.ts";
import { revisionAnnotations } from "./status.ts";

/** The keys of the Kustomizations that must be ready first. */
export function dependencyKeys({ kustomization, run }: KustomizationContext): readonly WorkKey[] {
  return keysOf(kustomization.spec.dependsOn ?? [], run.key);
}

/** Subscribes a Kustomization to its source, its dependencies, the objects that it reads at home and these topics, and to nothing else. */
export async function subscribeForRun(ctx: KustomizationContext, more: readonly string[] = []): Promise<void> {
  const { deps, kustomization, namespace, run } = ctx;
  const source = sourceTopic(sourceKey(kustomization.spec, namespace, run.key.cluster));
  const { cluster } = run.key;
  // Also those that are optional and not there: they may be created.
  const variables = (kustomization.spec.postBuild?.substituteFrom ?? []).map(({ kind, name }) =>
    configTopic({ cluster, kind, namespace, name }),
  );
  // Not the Secret that the installation has for all: in Flux its change starts no run either.
  const keys = [kustomization.spec.decryption?.secretRef ?? []]
    .flat()
    .map(({ name }) => configTopic({ cluster, kind: "Secret", namespace, name }));
  const read = [...variables, ...keys, ...kubeConfigTopics(kustomization.spec.kubeConfig, run.key)];
  const topics = [source, ...dependencyKeys(ctx).map(readyTopic), ...read, ...more];
  await deps.subscriptions.subscribe(topics, run.fence, run.signal);
}

/**
 * Why a Kustomization of this namespace may not have the `readyExpr` of one of its dependencies evaluated; undefined where it may. That a
 * dependency of another namespace is waited for is never refused, as in Flux: an expression could read all of it.
 */
export function readyExprRefusal(
  { dependsOn = [] }: KustomizationSpec,
  ownNamespace: string,
  { noCrossNamespaceRefs }: Pick<KustomizationDeps, "noCrossNamespaceRefs">,
): string | undefined {
  if (!noCrossNamespaceRefs) return undefined;
  for (const [index, { name, namespace = ownNamespace, readyExpr = "" }] of dependsOn.entries()) {
    if (readyExpr === "" || namespace === ownNamespace) continue;
    const field = `spec.dependsOn[${index}].readyExpr`;
    return `${field} can't access 'Kustomization/${namespace}/${name}', cross-namespace references have been blocked`;
  }
  return undefined;
}

/** Checks the dependencies in list order; the first that is not ready ends the check (reference 3.3). */
export async function checkDependencies(
  ctx: KustomizationContext,
  source: ResolvedSource,
): Promise<Blocked | undefined> {
  const annotations = revisionAnnotations(source.revision, source.originRevision);
  const { dependsOn = [] } = ctx.kustomization.spec;
  const keys = dependencyKeys(ctx);
  for (const [index, key] of keys.entries()) {
    let problem: Problem | undefined;
    try {
      problem = await problemOf(key, dependsOn[index]?.readyExpr ?? "", ctx, source);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { ...invalid(error.reason, error.message), annotations };
    }
    if (problem === undefined) continue;
    const cycle = await kustomizationCycleText({ index, problem: problem.text, source }, ctx);
    const message = `${problem.text}${cycle}`;
    const { why } = problem;
    return {
      kind: "blocked",
      reason: "DependencyNotReady",
      message,
      retry: "dependency",
      event: { type: "Normal", message: `Dependencies do not meet ready condition, retrying in ${requeueText(ctx)}` },
      waitsFor: { cause: key, ...(why === undefined ? {} : { why }) },
      isMissing: problem.isMissing === true,
      annotations,
    };
  }
  return undefined;
}

interface Problem {
  readonly text: string;
  /** The reason of the Ready condition of the dependency. */
  readonly why?: string | undefined;
  readonly isMissing?: boolean;
}

/**
 * Why a dependency blocks the run.
 *
 * @throws Failure of reason `InvalidCELExpression` for a `readyExpr` that does not compile
 */
async function problemOf(
  key: WorkKey,
  readyExpr: string,
  ctx: KustomizationContext,
  source: ResolvedSource,
): Promise<Problem | undefined> {
  const name = `${key.namespace}/${key.name}`;
  const live = await ctx.home.get({ ...key, version: "v1" }, ctx.run.signal);
  if (live === undefined) {
    return {
      text: `dependency '${name}' not found: kustomizations.${kustomizeGroup} "${key.name}" not found`,
      why: "NotFound",
      isMissing: true,
    };
  }
  const suspended = suspendedText({ ...key, kind: "Kustomization" }, live);
  if (readyExpr !== "") {
    // Not at the start of a function: few dependencies have one.
    const { evaluateReadyExpr } = await import("../owner/ready-expr.ts");
    const verdict = await evaluateReadyExpr(readyExpr, live, ctx);
    if (typeof verdict === "string") return { text: verdict };
    if (!verdict) return { text: `dependency '${name}' is not ready according to readyExpr eval` };
    if (!ctx.deps.gates.AdditiveCELDependencyCheck) return undefined;
  }
  const dependency = readKustomization(live);
  if (dependency === undefined || !isReady(dependency)) {
    const why = findCondition(dependency?.status.conditions ?? [], "Ready")?.reason;
    return { text: `dependency '${name}' is not ready${suspended}`, why };
  }
  const theirs = sourceKey(dependency.spec, key.namespace, key.cluster);
  const isSameSource = formatWorkKey(theirs) === formatWorkKey(source.key);
  return isSameSource && dependency.status.lastAppliedRevision !== source.revision
    ? { text: `dependency '${name}' revision is not up to date${suspended}` }
    : undefined;
}
