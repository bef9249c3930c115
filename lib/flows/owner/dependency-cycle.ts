import { findCondition } from "../../api/condition.ts";
import type { FeatureGates } from "../../core/feature-gates.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { ReconcileRequests } from "../../core/ports/reconcile-requests.ts";
import type { Run } from "../../core/ports/run.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";

/** As many objects are read at most to look for a cycle. */
export const maxChain = 100;

const detected = "circular dependency detected";

/** An unrequested run without anything new to report looks for a cycle only every so many runs. */
const looksInRuns = 20;

type Conditions = Parameters<typeof findCondition>[0];
type Dependency = { readonly name: string; readonly namespace?: string; readonly readyExpr?: string };

/** An object that waits for one of its dependencies. */
interface Waiting {
  /** The objects that must be ready first, beginning with the one that it waits for. */
  readonly dependencies: readonly WorkKey[];
  /** What it waits for, in the words of its message. */
  readonly problem: string;
  /** The conditions of its status. */
  readonly conditions: Conditions;
  /** How many runs have waited before this one. */
  readonly waits: number;
}

/** What the search reads of another object that waits. */
interface Read {
  readonly conditions: Conditions;
  /** The objects that must be ready before it. */
  readonly dependencies: readonly WorkKey[];
}

/** How one kind is searched. */
interface Search {
  readonly run: Pick<Run, "isRequested" | "key" | "signal">;
  readonly requests: ReconcileRequests;
  /** Undefined if there is no such object, if it waits for nothing, or if only its own correction helps it. */
  readonly read: (key: WorkKey) => Promise<Read | undefined>;
}

interface Member {
  readonly key: WorkKey;
  /** Whether its status names a cycle already. */
  readonly isTold: boolean;
}

/**
 * The message about the cycle of a waiting object; empty if there is none. In a cycle no object becomes ready, so the status has to name
 * it. The first object that finds a cycle requests a run of the others, so that each of them names it. So a run that nothing has asked
 * for seldom needs to look. An error of the API server ends only the search: the text explains the wait, and the run goes on without it.
 */
export async function cycleText(waiting: Waiting, search: Search): Promise<string> {
  const { requests, run } = search;
  if (!hasNews(waiting, run)) return "";
  const members = await found(waiting, search);
  if (members === undefined) return "";
  const own = label(run.key);
  if (!isTold(waiting.conditions)) {
    for (const { key, isTold: knows } of members) {
      if (knows) continue;
      await requests.request(key, `${formatWorkKey(run.key)} depends on it in a circle`, run.signal);
    }
  }
  return `: ${detected}: ${[own, ...members.map(({ key }) => label(key)), own].join(" -> ")}`;
}

function hasNews({ conditions, problem, waits }: Waiting, { isRequested }: Search["run"]): boolean {
  const isKnown = findCondition(conditions, "Ready")?.message === problem;
  return isRequested || !isKnown || waits % looksInRuns === 0;
}

async function found(waiting: Waiting, search: Search): Promise<readonly Member[] | undefined> {
  try {
    return await cycleThrough(waiting, search);
  } catch (error) {
    search.run.signal.throwIfAborted();
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * The objects on the path from the object over one of these dependencies back to it, if each of them waits; undefined if there is no
 * such path.
 */
async function cycleThrough({ dependencies }: Waiting, { read, run }: Search): Promise<readonly Member[] | undefined> {
  const start = formatWorkKey(run.key);
  const after = (keys: readonly WorkKey[], path: readonly Member[]) => keys.toReversed().map((key) => ({ key, path }));
  const paths: { key: WorkKey; path: readonly Member[] }[] = after(dependencies, []);
  const seen = new Set<string>();
  for (let next = paths.pop(); next !== undefined && seen.size < maxChain; next = paths.pop()) {
    const { key, path } = next;
    if (formatWorkKey(key) === start) return path;
    if (seen.has(formatWorkKey(key))) continue;
    seen.add(formatWorkKey(key));
    const one = await read(key);
    if (one === undefined) continue;
    paths.push(...after(one.dependencies, [...path, { key, isTold: isTold(one.conditions) }]));
  }
  return undefined;
}

function isTold(conditions: Conditions): boolean {
  return findCondition(conditions, "Ready")?.message.includes(detected) === true;
}

function label({ namespace, name }: WorkKey): string {
  return `${namespace}/${name}`;
}

/**
 * The keys of the dependencies that have to be ready: where a `readyExpr` decides alone, a dependency may be waited for or not.
 *
 * @param from the object that has the dependencies
 */
export function needed(
  dependencies: readonly Dependency[],
  from: WorkKey,
  { AdditiveCELDependencyCheck }: Pick<FeatureGates, "AdditiveCELDependencyCheck">,
): readonly WorkKey[] {
  const isNeeded = ({ readyExpr = "" }: Dependency) => readyExpr === "" || AdditiveCELDependencyCheck;
  return keysOf(dependencies.filter(isNeeded), from);
}

/** The keys of all dependencies, which are of the same kind and cluster as the object that has them. */
export function keysOf(
  dependencies: readonly Dependency[],
  { cluster, group, kind, namespace: own }: WorkKey,
): readonly WorkKey[] {
  return dependencies.map(({ name, namespace = own }) => ({ cluster, group, kind, namespace, name }));
}
