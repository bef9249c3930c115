import { requestedAtAnnotation } from "../api/names.ts";
import type { Metadata } from "../core/manifest.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import type { Sightings } from "../core/ports/sightings.ts";
import { formatWorkKey, type WorkKey } from "../core/work-key.ts";

export interface NoticeDeps {
  readonly sightings: Sightings;
  readonly requests: ReconcileRequests;
}

/** A custom resource as a watch or a list shows it. */
export interface NoticedResource {
  readonly key: WorkKey;
  readonly metadata: Metadata;
}

/**
 * Asks for a run of a custom resource where something in it asks for one: it is new, its spec, its requested time or its
 * deletion is. Answers whether it did. What was seen is remembered last, so a crash between costs a run and loses none.
 */
export async function noticeResource(
  resource: NoticedResource,
  deps: NoticeDeps,
  signal: AbortSignal,
): Promise<boolean> {
  return notice(resource, await deps.sightings.get(resource.key, signal), deps, signal);
}

async function notice(
  { key, metadata }: NoticedResource,
  before: string | undefined,
  { sightings, requests }: NoticeDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const sighting = sightingOf(metadata);
  if (before === sighting) return false;
  await requests.request(key, "resource changed", signal);
  await sightings.put(key, sighting, signal);
  return true;
}

/** Asks for a last run of a custom resource that is gone, so that its flow can let go of what it listened to. */
export async function noticeGone(
  key: WorkKey,
  { sightings, requests }: NoticeDeps,
  signal: AbortSignal,
): Promise<void> {
  await requests.request(key, "resource gone", signal);
  await sightings.remove(key, signal);
}

/** Compares a whole list of one kind in one cluster with what was seen before. Answers how many runs it asked for. */
export async function noticeAll(
  kind: Pick<WorkKey, "cluster" | "group" | "kind">,
  present: readonly NoticedResource[],
  deps: NoticeDeps,
  signal: AbortSignal,
): Promise<number> {
  const seen = await deps.sightings.list(kind, signal);
  const before = new Map(seen.map(({ key, sighting }) => [formatWorkKey(key), sighting]));
  let asked = 0;
  for (const resource of present) {
    if (await notice(resource, before.get(formatWorkKey(resource.key)), deps, signal)) asked += 1;
  }
  const there = new Set(present.map(({ key }) => formatWorkKey(key)));
  for (const { key } of seen) {
    if (there.has(formatWorkKey(key))) continue;
    await noticeGone(key, deps, signal);
    asked += 1;
  }
  return asked;
}

/** What of a resource, when it changes, asks for a run: Flux's predicates, and its identity. */
function sightingOf({ uid = "", generation = 0, annotations = {}, deletionTimestamp }: Metadata): string {
  return JSON.stringify([uid, generation, annotations[requestedAtAnnotation] ?? null, deletionTimestamp !== undefined]);
}
