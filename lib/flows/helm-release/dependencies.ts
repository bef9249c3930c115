import { helmGroup } from "../../api/names.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { configTopic, readyTopic, sourceTopic } from "../../core/topics.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { keysOf } from "../owner/dependency-cycle.ts";
import { kubeConfigTopics } from "../owner/elsewhere.ts";
import { evaluateReadyExpr } from "../owner/ready-expr.ts";
import { suspendedText } from "../owner/suspended-dependency.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";
import { Blocked, terminal } from "./blocked.ts";
import { chartSourceKey } from "./chart-source.ts";
import { isReadyNow, readRelease, releaseCycleText } from "./dependency-cycle.ts";

/** The keys of the HelmReleases that must be ready first. */
export function dependencyKeys(ctx: HelmReleaseContext): readonly WorkKey[] {
  return keysOf(ctx.release.spec.dependsOn ?? [], ctx.run.key);
}

/** Subscribes a HelmRelease to its source, its dependencies and the objects that it reads at home, and to nothing else. */
export async function subscribeForRun(ctx: HelmReleaseContext): Promise<void> {
  const { deps, namespace, run } = ctx;
  const { kubeConfig, valuesFrom = [] } = ctx.release.spec;
  const { cluster } = run.key;
  const read = [...valuesFrom.map(({ kind, name }) => ({ kind, name }))];
  const topics = [
    sourceTopic(chartSourceKey(ctx)),
    ...dependencyKeys(ctx).map(readyTopic),
    ...read.map(({ kind, name }) => configTopic({ cluster, kind, namespace, name })),
    ...kubeConfigTopics(kubeConfig, run.key),
  ];
  await deps.subscriptions.subscribe([...new Set(topics)], run.fence, run.signal);
}

/**
 * Checks the dependencies in list order; the first that is not ready ends the check (reference helmrelease 7).
 *
 * @throws Blocked
 */
export async function checkDependencies(ctx: HelmReleaseContext): Promise<void> {
  const { dependsOn = [] } = ctx.release.spec;
  for (const [index, key] of dependencyKeys(ctx).entries()) {
    const problem = await problemOf(key, dependsOn[index]?.readyExpr ?? "", ctx);
    if (problem === undefined) continue;
    const { isMissing = false } = problem;
    const text = `${problem.text}${await releaseCycleText({ index, problem: problem.text }, ctx)}`;
    throw new Blocked("DependencyNotReady", text, {
      retry: "soon",
      event: { type: "Normal", message: text },
      waitsFor: key,
      isMissing,
    });
  }
}

interface Problem {
  readonly text: string;
  readonly isMissing?: boolean;
}

async function problemOf(key: WorkKey, readyExpr: string, ctx: HelmReleaseContext): Promise<Problem | undefined> {
  const { deps, home, run } = ctx;
  const name = `${key.namespace}/${key.name}`;
  const live = await home.get({ ...key, version: "v2" }, run.signal);
  if (live === undefined) {
    const text = `unable to get '${name}' dependency: helmreleases.${helmGroup} "${key.name}" not found`;
    return { text, isMissing: true };
  }
  const suspended = suspendedText({ ...key, kind: "HelmRelease" }, live);
  if (readyExpr !== "") {
    const refusal = readyExprRefusal({ ...key, readyExpr }, ctx.namespace, deps);
    if (refusal !== undefined) throw terminal("AccessDenied", refusal);
    const verdict = await evaluate(readyExpr, live, ctx);
    if (typeof verdict === "string") return { text: `dependency '${name}' is not ready: ${verdict}` };
    if (!verdict) return { text: `dependency '${name}' is not ready according to readyExpr eval` };
    if (!deps.gates.AdditiveCELDependencyCheck) return undefined;
  }
  const dependency = readRelease(live);
  if (dependency !== undefined && isReadyNow(dependency)) return undefined;
  return { text: `dependency '${name}' is not ready${suspended}` };
}

/** Why a HelmRelease of this namespace may not have the `readyExpr` of a dependency evaluated; undefined if it may. Pure. */
export function readyExprRefusal(
  {
    name,
    namespace,
    readyExpr = "",
  }: { readonly name: string; readonly namespace?: string; readonly readyExpr?: string },
  ownNamespace: string,
  { noCrossNamespaceRefs }: { readonly noCrossNamespaceRefs: boolean },
): string | undefined {
  const where = namespace ?? ownNamespace;
  if (readyExpr === "" || !noCrossNamespaceRefs || where === ownNamespace) return undefined;
  return `readyExpr may not read HelmRelease ${where}/${name}: cross-namespace references are not allowed`;
}

async function evaluate(readyExpr: string, live: LiveObject, ctx: HelmReleaseContext): Promise<boolean | string> {
  try {
    return await evaluateReadyExpr(readyExpr, live, ctx);
  } catch (error) {
    if (error instanceof Failure && error.reason === "InvalidCELExpression")
      throw terminal(error.reason, messageOf(error));
    throw error;
  }
}
