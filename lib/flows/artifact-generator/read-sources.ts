import type { ArtifactGeneratorSpec, SourceReference } from "../../api/artifact-generator.ts";
import { kindOf } from "../../api/kinds/declaration.ts";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { sourceGroup } from "../../api/names.ts";
import type { Artifact } from "../../api/source.ts";
import { digestOf } from "../../core/digest.ts";
import { Failure, type Retry } from "../../core/failure.ts";
import { subject } from "../../core/object-ref.ts";
import { outageOf } from "../../core/ports/outage.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { unpack, withLinksFollowed } from "../../sources/archive/unpack.ts";
import { type FileTree, treeOf } from "../../sources/generator/file-tree.ts";
import type { Budget } from "../../sources/generator/generator-limits.ts";
import { fetchableArtifact, readSource } from "../source/read-source.ts";
import type { GeneratorContext } from "./generator-context.ts";

/** The annotation of an artifact with the revision that it was made from. */
export const originRevisionKey = "org.opencontainers.image.revision";

/** A source with an artifact. */
export interface ObservedSource {
  readonly key: WorkKey;
  readonly uid: string;
  readonly artifact: Artifact;
}

/** The sources of a spec, by alias. */
export type ObservedSources = ReadonlyMap<string, ObservedSource>;

export function sourceKey({ kind, name, namespace }: SourceReference, ctx: GeneratorContext): WorkKey {
  const { cluster } = ctx.run.key;
  return { cluster, group: sourceGroup, kind, namespace: namespace ?? ctx.namespace, name };
}

/** Reads all sources. Only that they have an artifact counts, not whether they are ready. Throws a {@link Failure}. */
export async function observeSources(
  { sources }: ArtifactGeneratorSpec,
  ctx: GeneratorContext,
): Promise<ObservedSources> {
  const observed = new Map<string, ObservedSource>();
  const reader = { home: ctx.home, sources: ctx.deps.sources };
  for (const reference of sources) {
    const key = sourceKey(reference, ctx);
    const { kind, name, namespace } = key;
    if (kindOf(key, reader.sources) === undefined) {
      const why = `source ${subject(key)} is of a kind that is not reconciled here`;
      throw new Failure("SourceFetchFailed", `get sources failed: ${why}: remove it from spec.sources`, {
        retry: "never",
      });
    }
    const source = await readSource(key, reader, ctx.run.signal).catch((error: unknown) => {
      throw outageOf(error, "SourceFetchFailed", `get sources failed: unable to get source '${namespace}/${name}'`);
    });
    if (source === undefined) {
      throw new Failure("SourceFetchFailed", `get sources failed: ${kind}.${sourceGroup} "${name}" not found`, {
        waitsFor: key,
        isMissing: true,
      });
    }
    const { artifact, uid } = source;
    if (artifact === undefined) {
      throw new Failure("SourceFetchFailed", `get sources failed: source '${subject(key)}' is not ready`, {
        waitsFor: key,
      });
    }
    observed.set(reference.alias, { key, uid, artifact });
  }
  return observed;
}

/** One text for all sources of an artifact, in Flux's form: if only the address of an artifact differs, the text differs. */
export function sourcesDigest(observed: ObservedSources): string {
  const parts = [...observed].map(
    ([
      alias,
      {
        artifact: { digest, revision, url },
      },
    ]) => `${alias}=[digest=${digest},revision=${revision},url=${url}]`,
  );
  return digestOf(parts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join("|"));
}

/**
 * The content of the sources, by alias. Each archive is read once, and all of them together stay within the limits of one. Throws a
 * {@link Failure} `SourceFetchFailed`; if a source of ours has no artifact, its run is requested.
 */
export async function fetchSources(
  observed: ObservedSources,
  { limits, memory }: Budget,
  ctx: GeneratorContext,
): Promise<ReadonlyMap<string, FileTree>> {
  const trees = new Map<string, FileTree>();
  const byDigest = new Map<string, FileTree>();
  let { maxEntries } = limits.archive;
  for (const [alias, source] of observed) {
    const known = byDigest.get(source.artifact.digest);
    if (known !== undefined) {
      trees.set(alias, known);
      continue;
    }
    const packed = await fetchSource(source, ctx);
    const left = { ...limits.archive, maxBytes: memory.left, maxEntries };
    const entries = await unpacked(packed, left, source, ctx);
    const tree = treeOf(entries, limits.archive);
    for (const entry of entries) if (entry.type === "file") memory.left -= (await readable(entry.read, source)).length;
    maxEntries -= entries.length;
    byDigest.set(source.artifact.digest, tree);
    trees.set(alias, tree);
  }
  return trees;
}

async function fetchSource(source: ObservedSource, ctx: GeneratorContext): Promise<Uint8Array> {
  const { deps, run } = ctx;
  try {
    const artifact = await fetchableArtifact(source, { deps, run });
    const bytes = await artifact?.bytes();
    if (bytes !== undefined) return bytes;
  } catch (error) {
    if (error instanceof Failure) throw fetchFailed(error.message, source, error);
    throw error;
  }
  if (source.key.kind !== declaredExternalArtifact.kind) {
    await deps.requests.request(source.key, `artifact of ${source.artifact.revision} is missing`, run.signal);
  }
  throw fetchFailed("file not found", source);
}

async function unpacked(
  packed: Uint8Array,
  limits: Budget["limits"]["archive"],
  source: ObservedSource,
  { deps, run }: GeneratorContext,
) {
  try {
    const content = await unpack(packed, limits, run.signal);
    const follow = deps.skipLinks === true ? { ...content, links: [] } : content;
    return await withLinksFollowed(follow, { limits, mend: "correct the link in the source" }, run.signal);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw fetchFailed(error.message, source, error, "backoff");
  }
}

/** A dangling link is found when it is read. */
async function readable(read: () => Promise<Uint8Array>, source: ObservedSource): Promise<Uint8Array> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw fetchFailed(error.message, source, error, "backoff");
  }
}

function fetchFailed(why: string, { key }: ObservedSource, cause?: unknown, retry: Retry = "dependency"): Failure {
  return new Failure("SourceFetchFailed", `fetch sources failed: ${subject(key)}: ${why}`, {
    cause,
    retry,
    waitsFor: key,
  });
}
