import { isTrue } from "../../api/condition.ts";
import { type Kustomization, readKustomization } from "../../api/kustomization.ts";
import { kustomizeGroup } from "../../api/names.ts";
import { referenceFaults } from "../../api/spec-references.ts";
import { formatWorkKey, type WorkKey } from "../../core/work-key.ts";
import { revisionAnnotations } from "./annotations.ts";
import type { Blocked } from "./outcome.ts";
import { type ResolvedSource, sourceKey } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** More dependencies than this in one chain are looked at for a cycle by nobody. */
export const maxChain = 100;

type Dependency = { readonly name: string; readonly namespace?: string };

/** The keys of the Kustomizations that must be ready first. */
export function dependencyKeys({ kustomization, namespace, run }: SubjectOfRun): readonly WorkKey[] {
  return keysOf(kustomization.spec.dependsOn ?? [], namespace, run.key.cluster);
}

/** Checks the dependencies in list order; the first that is not ready ends the check (reference 3.3). */
export async function checkDependencies(of: SubjectOfRun, source: ResolvedSource): Promise<Blocked | undefined> {
  for (const key of dependencyKeys(of)) {
    const message = await problemOf(key, of, source);
    if (message === undefined) continue;
    return {
      kind: "blocked",
      reason: "DependencyNotReady",
      message,
      retry: "dependency",
      event: { type: "Normal", message: "Dependencies do not meet ready condition, retrying in 30s" },
      annotations: revisionAnnotations(source.revision, source.originRevision),
    };
  }
  return undefined;
}

async function problemOf(key: WorkKey, of: SubjectOfRun, source: ResolvedSource): Promise<string | undefined> {
  const name = `${key.namespace}/${key.name}`;
  const dependency = await read(key, of);
  if (dependency === undefined) {
    return `dependency '${name}' not found: kustomizations.${kustomizeGroup} "${key.name}" not found`;
  }
  if (dependency === "unreadable" || !isReady(dependency)) {
    const cycle = await cycleFrom(key, of);
    const because = cycle === undefined ? "" : `: circular dependency detected: ${cycle.join(" -> ")}`;
    return `dependency '${name}' is not ready${because}`;
  }
  const theirs = sourceKey(dependency.spec, key.namespace, key.cluster);
  const isSameSource = formatWorkKey(theirs) === formatWorkKey(source.key);
  return isSameSource && dependency.status.lastAppliedRevision !== source.revision
    ? `dependency '${name}' revision is not up to date`
    : undefined;
}

function isReady({ metadata, status }: Kustomization): boolean {
  return metadata.generation === status.observedGeneration && isTrue(status.conditions ?? [], "Ready");
}

/** Undefined where it is not there. */
async function read(key: WorkKey, { cluster, run }: SubjectOfRun): Promise<Kustomization | "unreadable" | undefined> {
  const live = await cluster.get({ ...key, version: "v1" }, run.signal);
  return live && (readKustomization(live) ?? "unreadable");
}

/**
 * The way from the object over this dependency back to it, or undefined. Looked for only when a dependency is not ready:
 * in a circle none ever is, and without a word of it everybody would wait for ever.
 */
async function cycleFrom(dependency: WorkKey, of: SubjectOfRun): Promise<readonly string[] | undefined> {
  const start = formatWorkKey(of.run.key);
  const label = ({ namespace, name }: WorkKey) => `${namespace}/${name}`;
  const paths: { key: WorkKey; path: readonly string[] }[] = [{ key: dependency, path: [label(of.run.key)] }];
  const seen = new Set<string>();
  for (let next = paths.pop(); next !== undefined && seen.size < maxChain; next = paths.pop()) {
    const { key, path } = next;
    if (formatWorkKey(key) === start) return [...path, label(key)];
    if (seen.has(formatWorkKey(key))) continue;
    seen.add(formatWorkKey(key));
    const found = await read(key, of);
    // One that cannot be reconciled waits for its own mending, not for what it names.
    if (found === undefined || found === "unreadable" || referenceFaults(found.spec).length > 0) continue;
    for (const further of keysOf(found.spec.dependsOn ?? [], key.namespace, key.cluster)) {
      paths.push({ key: further, path: [...path, label(key)] });
    }
  }
  return undefined;
}

function keysOf(dependencies: readonly Dependency[], ownNamespace: string, cluster: string): readonly WorkKey[] {
  return dependencies.map(({ name, namespace = ownNamespace }) => ({
    cluster,
    group: kustomizeGroup,
    kind: "Kustomization",
    namespace,
    name,
  }));
}
