import { isPausedBy, kindOf } from "../../api/kinds/declaration.ts";
import { followedMark } from "../../api/kinds/followed-mark.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { type SourceReader, sourcesAmong } from "../source/read-source.ts";
import type { Kind } from "./kind.ts";

/**
 * The inputs of this object's run, as one short text without secrets: its identity, its spec, its requested time, its deletion, its
 * pause and its kind's own inputs (the revision of its source, for example). A parked object runs again when the text changes.
 */
export async function runInput(
  key: WorkKey,
  { home, kinds }: { readonly home: SourceReader["home"]; readonly kinds: readonly Kind[] },
  signal: AbortSignal,
): Promise<string> {
  const kind = kindOf(key, kinds);
  if (kind === undefined) throw new Error(`no run input for kind ${key.kind}`);
  const live = await home.get({ ...key, version: kind.versions[0] }, signal);
  if (live === undefined) return "absent";
  const { uid, generation, annotations, deletionTimestamp } = live.metadata;
  const own = (await kind.input?.(live, { home, sources: sourcesAmong(kinds) }, signal)) ?? null;
  const pause = isPausedBy(kind.pausedBy, annotations) ? ["paused"] : [];
  const requestedAt = annotations?.[requestedAtAnnotation];
  return JSON.stringify([
    uid,
    generation,
    requestedAt,
    deletionTimestamp,
    own,
    ...pause,
    ...followedMark(kind, annotations),
  ]);
}
