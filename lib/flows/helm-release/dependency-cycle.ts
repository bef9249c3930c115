import { parseHelmRelease } from "../../api/helm-release.ts";
import { helmGroup } from "../../api/names.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import type { HelmReleaseContext } from "./attempt/context.ts";

/** As many HelmReleases are read at most to look for a cycle. */
const maxChain = 100;

/** The key of a HelmRelease that another one of this namespace depends on. */
export function dependencyKey(
  { name, namespace }: { readonly name: string; readonly namespace?: string },
  ownNamespace: string,
  cluster: string,
): WorkKey {
  return { cluster, group: helmGroup, kind: "HelmRelease", namespace: namespace ?? ownNamespace, name };
}

/**
 * What the message of a HelmRelease that waits for this one says of a cycle they are in; empty if they are in none. In a cycle none becomes
 * ready, so the status has to name it. Dependencies with a `readyExpr` are not followed: the expression may be true at any time.
 *
 * @param live the dependency, which is not ready
 */
export async function cycleText(key: WorkKey, live: LiveObject, ctx: HelmReleaseContext): Promise<string> {
  const start = formatWorkKey(ctx.run.key);
  const paths: (readonly WorkKey[])[] = [[key]];
  const seen = new Set<string>();
  for (let path = paths.pop(); path !== undefined && seen.size < maxChain; path = paths.pop()) {
    const at = path.at(-1) ?? key;
    const id = formatWorkKey(at);
    if (id === start) return `: circular dependency detected: ${[ctx.run.key, ...path].map(label).join(" -> ")}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const found = at === key ? live : await ctx.home.get({ ...at, version: "v2" }, ctx.run.signal);
    for (const next of dependenciesOf(found, at).toReversed()) paths.push([...path, next]);
  }
  return "";
}

function dependenciesOf(live: LiveObject | undefined, { cluster, namespace }: WorkKey): readonly WorkKey[] {
  if (live === undefined) return [];
  try {
    return (parseHelmRelease(live).spec.dependsOn ?? [])
      .filter(({ readyExpr = "" }) => readyExpr === "")
      .map((dependency) => dependencyKey(dependency, namespace, cluster));
  } catch (error) {
    // It waits for its own correction.
    if (error instanceof Failure) return [];
    throw error;
  }
}

function label({ name, namespace }: WorkKey): string {
  return `${namespace}/${name}`;
}
