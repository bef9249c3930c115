import { type KindDeclaration, kindOf } from "../../api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { type Artifact, SourceStatus } from "../../api/source.ts";
import { Digest, digestOf } from "../../core/digest.ts";
import { Failure } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Http } from "../../core/ports/http.ts";
import { storeOutage } from "../../core/ports/outage.ts";
import type { Run } from "../../core/ports/run.ts";
import type { WorkKey } from "../../core/work-key.ts";
import type { FlowDeps } from "../flow-deps.ts";
import { downloadArtifact } from "./external-artifact.ts";

/** The kinds of source that an installation reconciles, as far as consumers know them. */
export type SourceKinds = readonly Pick<KindDeclaration, "group" | "kind" | "versions">[];

/** Where consumers find sources. */
export interface SourceReader {
  readonly home: Pick<HomeCluster, "get" | "role">;
  readonly sources: SourceKinds;
}

/** The kinds whose objects provide content: those that are reconciled here, and the one that other controllers write. */
export function sourcesAmong(kinds: readonly KindDeclaration[]): SourceKinds {
  return [...kinds.filter(({ isSource }) => isSource), declaredExternalArtifact];
}

/** A source as consumers see it. */
export interface Source {
  readonly uid: string;
  /** The latest artifact; undefined before the first one, and once the source is being deleted. */
  readonly artifact: Artifact | undefined;
}

/**
 * The source of this key, of whatever kind; undefined if it does not exist. Only its artifact counts: if the source fails, the last
 * artifact is still applied (reference 3.2). An unreadable artifact counts as none; the source's next run writes a valid one.
 */
export async function readSource(
  key: ObjectRef,
  { home, sources }: SourceReader,
  signal: AbortSignal,
): Promise<Source | undefined> {
  const kind = kindOf(key, sources);
  if (kind === undefined) throw new Error(`${key.kind}.${key.group} is not a kind of source that is reconciled here`);
  const live = await home.get({ ...key, version: kind.versions[0] }, signal);
  return live && sourceOf(live);
}

/** A live source as consumers see it. */
export function sourceOf(live: LiveObject): Source {
  const { uid, deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined) return { uid, artifact: undefined };
  return { uid, artifact: SourceStatus.pick({ artifact: true }).safeParse(live["status"] ?? {}).data?.artifact };
}

/** The state and the run of a consumer. */
interface Consumer {
  readonly deps: Pick<FlowDeps, "artifacts" | "records">;
  readonly run: Pick<Run, "signal">;
}

/** An artifact that can be fetched. Equal digests mean equal bytes. */
export interface FetchableArtifact {
  readonly digest: Digest;
  /** The verified bytes; undefined if they are gone. Throws an `Outage` or a `Failure` with reason `ArtifactFailed`. */
  readonly bytes: () => Promise<Uint8Array | undefined>;
}

/**
 * Stands in the records of an ExternalArtifact for "an ArtifactGenerator of this installation makes it". No artifact has this digest:
 * that would be a tarball with exactly this text.
 */
export const generatedHere: Digest = digestOf("made by an ArtifactGenerator of this installation");

/**
 * The artifact of a source, undefined if there is none to fetch. For a source that is reconciled here, only an artifact that the
 * source's own flow recorded counts, so a person who can write a status cannot choose what is applied. The same applies to an
 * ExternalArtifact that an ArtifactGenerator of this installation makes; any other is taken as its producer writes and serves it.
 */
export async function fetchableArtifact(
  source: { readonly key: WorkKey; readonly uid: string; readonly artifact: Artifact },
  consumer: Consumer & { readonly deps: { readonly http: Pick<Http, "send"> } },
): Promise<FetchableArtifact | undefined> {
  const { artifact, key, uid } = source;
  const { deps, run } = consumer;
  const isForeign =
    key.kind === declaredExternalArtifact.kind && !(await deps.records.recorded(key, uid, generatedHere, run.signal));
  if (isForeign) {
    // Another algorithm's digest names the bytes as well.
    const digest = Digest.safeParse(artifact.digest).data ?? digestOf(artifact.digest);
    return { digest, bytes: () => download(artifact, key, consumer) };
  }
  const digest = await recordedArtifact(source, consumer);
  return digest && { digest, bytes: () => fetchArtifact(digest, consumer) };
}

/** A failure names its source. */
async function download(
  artifact: Artifact,
  key: WorkKey,
  { deps, run }: Consumer & { readonly deps: { readonly http: Pick<Http, "send"> } },
): Promise<Uint8Array | undefined> {
  try {
    return await downloadArtifact(artifact, deps.http, run.signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.reason, error.message, { cause: error, retry: error.retry, waitsFor: key });
  }
}

/** The digest of a source's artifact, if the source's own flow recorded it. */
export async function recordedArtifact(
  { key, uid, artifact }: { readonly key: WorkKey; readonly uid: string; readonly artifact: Artifact },
  { deps, run }: Consumer,
): Promise<Digest | undefined> {
  const digest = Digest.safeParse(artifact.digest);
  if (!digest.success) return undefined;
  return (await deps.records.recorded(key, uid, digest.data, run.signal)) ? digest.data : undefined;
}

/** The verified bytes of an artifact; undefined if the store has lost it. Throws an `Outage` with reason `ArtifactFailed`. */
export async function fetchArtifact(digest: Digest, { deps, run }: Consumer): Promise<Uint8Array | undefined> {
  return deps.artifacts
    .get(digest, run.signal)
    .catch(storeOutage("ArtifactFailed", "failed to download archive", run.signal));
}
