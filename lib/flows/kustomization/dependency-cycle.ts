import { findCondition, isTrue } from "../../api/condition.ts";
import { type Kustomization, readKustomization } from "../../api/kustomization.ts";
import { kustomizeGroup } from "../../api/names.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import { readCarriedState } from "./attempt.ts";
import type { KustomizationContext } from "./context.ts";
import { type ResolvedSource, sourceKey } from "./resolve-source.ts";

/** As many Kustomizations are read at most to look for a cycle. */
export const maxChain = 100;

const detected = "circular dependency detected";

interface Member {
  readonly key: WorkKey;
  /** Whether its status names a cycle already. */
  readonly isTold: boolean;
}

/** An unrequested run without anything new to report looks for a cycle only every so many runs. */
const looksInRuns = 20;

/** A Kustomization that waits for one of its dependencies. */
interface Waiting {
  /** The objects that must be ready first, beginning with the one that it waits for. */
  readonly dependencies: readonly WorkKey[];
  /** What it waits for, in the words of its message. */
  readonly problem: string;
  readonly source: ResolvedSource;
}

/**
 * The message about the cycle of a waiting Kustomization; empty if there is none. In a cycle no object becomes ready, so the status
 * has to name it. The first object that finds a cycle requests a run of the others, so that each of them names it. So a run that
 * nothing has asked for seldom needs to look.
 */
export async function cycleText(waiting: Waiting, ctx: KustomizationContext): Promise<string> {
  if (!hasNews(waiting, ctx)) return "";
  const members = await cycleThrough(waiting, ctx);
  if (members === undefined) return "";
  const own = label(ctx.run.key);
  if (!isTold(ctx.status().conditions)) {
    for (const { key, isTold: knows } of members) {
      if (knows) continue;
      await ctx.deps.requests.request(key, `${formatWorkKey(ctx.run.key)} depends on it in a circle`, ctx.run.signal);
    }
  }
  return `: ${detected}: ${[own, ...members.map(({ key }) => label(key)), own].join(" -> ")}`;
}

function hasNews({ problem }: Waiting, ctx: KustomizationContext): boolean {
  const { run } = ctx;
  const { conditions = [] } = ctx.status();
  const isKnown = findCondition(conditions, "Ready")?.message === problem;
  return run.isRequested || !isKnown || readCarriedState(run.carried).failures % looksInRuns === 0;
}

/**
 * The objects on the path from the object over one of these dependencies back to it, if each of them waits; undefined if there is no
 * such path.
 */
async function cycleThrough(
  { dependencies, source }: Waiting,
  { deps, home, run }: KustomizationContext,
): Promise<readonly Member[] | undefined> {
  const start = formatWorkKey(run.key);
  const after = (keys: readonly WorkKey[], path: readonly Member[]) => keys.toReversed().map((key) => ({ key, path }));
  const paths: { key: WorkKey; path: readonly Member[] }[] = after(dependencies, []);
  const seen = new Set<string>();
  for (let next = paths.pop(); next !== undefined && seen.size < maxChain; next = paths.pop()) {
    const { key, path } = next;
    if (formatWorkKey(key) === start) return path;
    if (seen.has(formatWorkKey(key))) continue;
    seen.add(formatWorkKey(key));
    const live = await home.get({ ...key, version: "v1" }, run.signal);
    const found = live && readKustomization(live);
    // A Kustomization that cannot be reconciled waits for its own correction, not for its dependencies.
    if (found === undefined || referenceFaults(found.spec).length > 0) continue;
    if (!mayWait(found, key, source)) continue;
    const member = { key, isTold: isTold(found.status.conditions) };
    paths.push(...after(needed(found.spec.dependsOn ?? [], key.namespace, key.cluster, deps.gates), [...path, member]));
  }
  return undefined;
}

/** Whether it is not ready, or not at the revision for which those of the same source wait. */
function mayWait(member: Kustomization, key: WorkKey, source: ResolvedSource): boolean {
  if (!isReady(member)) return true;
  const { spec, status } = member;
  const isSameSource = formatWorkKey(sourceKey(spec, key.namespace, key.cluster)) === formatWorkKey(source.key);
  return isSameSource && status.lastAppliedRevision !== source.revision;
}

export function isReady({ metadata, status }: Kustomization): boolean {
  return metadata.generation === status.observedGeneration && isTrue(status.conditions ?? [], "Ready");
}

function isTold(conditions: Parameters<typeof findCondition>[0] = []): boolean {
  return findCondition(conditions, "Ready")?.message.includes(detected) === true;
}

function label({ namespace, name }: WorkKey): string {
  return `${namespace}/${name}`;
}

type Dependency = { readonly name: string; readonly namespace?: string; readonly readyExpr?: string };

/** The keys of the dependencies that have to be ready: where a `readyExpr` decides alone, a dependency may be waited for or not. */
export function needed(
  dependencies: readonly Dependency[],
  ownNamespace: string,
  cluster: string,
  { AdditiveCELDependencyCheck }: Pick<FeatureGates, "AdditiveCELDependencyCheck">,
): readonly WorkKey[] {
  const isNeeded = ({ readyExpr = "" }: Dependency) => readyExpr === "" || AdditiveCELDependencyCheck;
  return keysOf(dependencies.filter(isNeeded), ownNamespace, cluster);
}

export function keysOf(dependencies: readonly Dependency[], ownNamespace: string, cluster: string): readonly WorkKey[] {
  return dependencies.map(({ name, namespace = ownNamespace }) => ({
    cluster,
    group: kustomizeGroup,
    kind: "Kustomization",
    namespace,
    name,
  }));
}
