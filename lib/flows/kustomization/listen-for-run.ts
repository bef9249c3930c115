import { readyEdge, sourceEdge } from "../../core/edge-names.ts";
import { dependencyKeys } from "./check-dependencies.ts";
import { sourceKey } from "./resolve-source.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** Makes its source, its dependencies and these edges all that a Kustomization listens to. */
export async function listenForRun(of: SubjectOfRun, more: readonly string[] = []): Promise<void> {
  const { deps, kustomization, namespace, run } = of;
  const source = sourceEdge(sourceKey(kustomization.spec, namespace, run.key.cluster));
  await deps.edges.listen([source, ...dependencyKeys(of).map(readyEdge), ...more], run.fence, run.signal);
}
