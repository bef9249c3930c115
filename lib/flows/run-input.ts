import { readKustomization } from "../api/kustomization.ts";
import { kustomizeGroup, requestedAtAnnotation, sourceGroup } from "../api/names.ts";
import { sourceFaults } from "../api/spec-references.ts";
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

/** A spec that cannot be read names no source, nor does one with a name that none can have; its generation says when that changes. */
function sourceRefOf(live: LiveObject): { kind: string; namespace: string; name: string } | undefined {
  const spec = readKustomization(live)?.spec;
  if (spec === undefined || sourceFaults(spec).length > 0) return undefined;
  const { kind, name, namespace = live.metadata.namespace ?? "" } = spec.sourceRef;
  return { kind, name, namespace };
}
