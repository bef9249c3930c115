import type { Digest } from "../../core/digest.ts";
import type { ArtifactCollection, StoredArtifact } from "../../core/ports/artifact-collection.ts";
import type { RecordedArtifacts } from "../../core/ports/artifact-records.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Log } from "../../core/ports/log.ts";
import { maxUnnamed } from "../../core/unnamed-artifacts.ts";

export interface CollectDeps {
  readonly artifacts: ArtifactCollection;
  readonly records: RecordedArtifacts;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** What one collection has found and done, in artifacts. */
export interface Collected {
  readonly stored: number;
  /** Old artifacts that no source names, including the deleted ones. */
  readonly unnamed: number;
  readonly deleted: number;
}

/**
 * How long an artifact has to be unnamed, and how long ago it has to be stored, before it is deleted. Far longer than a run takes
 * from storing an artifact to recording it (15 minutes), plus the hour after which a store makes an artifact new again
 * (`refreshAfterMs`): so an artifact that a run is about to name is always newer than this.
 */
export const graceMs = 24 * 60 * 60_000;

/**
 * Deletes the artifacts that no source names and has named for a day. The first collection that finds such an artifact only remembers
 * it; one that comes a day later deletes it. If no source names any artifact at all, nothing is deleted: a table that was lost or
 * replaced looks like that. Any fault ends the collection before it deletes more; the next one begins again.
 */
export async function collectArtifacts(deps: CollectDeps, signal: AbortSignal): Promise<Collected> {
  const { artifacts, log, records } = deps;
  const now = deps.clock.now();
  const named = await records.digests(signal);
  const known = await artifacts.unnamed(signal);
  const { stored, unnamed } = await findUnnamed(deps, named, now, signal);
  if (named.size === 0) {
    if (unnamed.length > 0) log.warn("no source names an artifact, so none is deleted", { stored });
    return { stored, unnamed: unnamed.length, deleted: 0 };
  }
  // A clock that was ahead must not keep an artifact for longer than a day.
  const since = new Map(unnamed.map(({ digest }) => [digest, Math.min(known.get(digest) ?? now, now)]));
  await artifacts.keepUnnamed(since, signal);
  let deleted = 0;
  for (const artifact of unnamed) {
    if ((since.get(artifact.digest) ?? now) > now - graceMs) continue;
    if (await artifacts.remove(artifact, signal)) deleted += 1;
  }
  return { stored, unnamed: unnamed.length, deleted };
}

/** How many artifacts are stored, and those of them that are old and not named, {@link maxUnnamed} at most. */
async function findUnnamed(
  { artifacts }: CollectDeps,
  named: ReadonlySet<Digest>,
  now: number,
  signal: AbortSignal,
): Promise<{ readonly stored: number; readonly unnamed: readonly StoredArtifact[] }> {
  let stored = 0;
  const unnamed: StoredArtifact[] = [];
  for await (const page of artifacts.list(signal)) {
    stored += page.length;
    for (const artifact of page) {
      if (unnamed.length < maxUnnamed && artifact.storedAt <= now - graceMs && !named.has(artifact.digest)) {
        unnamed.push(artifact);
      }
    }
  }
  return { stored, unnamed };
}
