import { parseKustomization } from "../api/kustomization.ts";
import { kustomizeGroup, requestedAtAnnotation, sourceGroup } from "../api/names.ts";
import { Failure } from "../core/failure.ts";
import { isJsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { WorkKey } from "../core/work-key.ts";

/**
 * What a run of this object depends on, as one short text without secrets: its identity, its spec, its requested time and
 * the revision of its source. A parked object is run again when it is another.
 */
export async function runInput(key: WorkKey, cluster: Pick<Cluster, "get">, signal: AbortSignal): Promise<string> {
  const live = await cluster.get({ ...key, version: "v1" }, signal);
  if (live === undefined) return "absent";
  const { uid, generation, annotations, deletionTimestamp } = live.metadata;
  const revision = key.group === kustomizeGroup ? await sourceRevision(live, cluster, signal) : null;
  return JSON.stringify([uid, generation, annotations?.[requestedAtAnnotation], deletionTimestamp, revision]);
}

async function sourceRevision(
  live: LiveObject,
  cluster: Pick<Cluster, "get">,
  signal: AbortSignal,
): Promise<string | null> {
  const ref = sourceRefOf(live);
  if (ref === undefined) return null;
  const source = await cluster.get({ ...ref, group: sourceGroup, version: "v1" }, signal);
  const status = source?.["status"];
  const artifact = isJsonObject(status) ? status["artifact"] : undefined;
  const revision = isJsonObject(artifact) ? artifact["revision"] : undefined;
  return typeof revision === "string" ? revision : null;
}

function sourceRefOf(live: LiveObject): { kind: string; namespace: string; name: string } | undefined {
  try {
    const { kind, name, namespace = live.metadata.namespace ?? "" } = parseKustomization(live).spec.sourceRef;
    return { kind, name, namespace };
  } catch (error) {
    // A spec that cannot be read names no source; its generation says when that changes.
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
