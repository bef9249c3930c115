import type { GitRepositorySpec, Include } from "../../api/git-repository.ts";
import type { Artifact } from "../../api/source.ts";
import type { Digest } from "../../core/digest.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { nameFault } from "../../core/object-ref.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { presentFolders } from "../../sources/archive/present-paths.ts";
import { type ArchiveLimits, unpack } from "../../sources/archive/unpack.ts";
import { addFolders, confined, type WorkTree } from "../../sources/git/checkout/work-tree.ts";
import { fetchArtifact, readSource, recordedArtifact } from "../source/read-source.ts";
import type { SourceContext } from "../source/source-context.ts";

/** An artifact that is to be put into another one. */
export interface Included {
  readonly include: Include;
  readonly key: WorkKey;
  readonly artifact: Artifact;
  readonly digest: Digest;
}

/**
 * The artifacts that `spec.include` names, in its order. Throws a `Failure` `NotFound` or `NoArtifact` for the first that is not
 * there (reference 2.6); whether its source is ready does not matter.
 */
export async function includedArtifacts(
  { include = [] }: GitRepositorySpec,
  ctx: SourceContext,
): Promise<readonly Included[]> {
  const found: Included[] = [];
  for (const each of include) found.push(await includedArtifact(each, ctx));
  return found;
}

async function includedArtifact(include: Include, ctx: SourceContext): Promise<Included> {
  const { deps, run, traits } = ctx;
  const { name } = include.repository;
  const key = { ...run.key, name };
  // A name that no object can have is asked of no API server, where it would be another address.
  const source =
    nameFault(name) === undefined
      ? await readSource(key, { home: ctx.home, sources: [traits.declared] }, run.signal)
      : undefined;
  if (source === undefined) {
    const { kind, group } = traits.declared;
    const message = `could not get resource for include '${name}': ${kind}.${group} "${name}" not found`;
    throw new Failure("NotFound", message, { isMissing: true });
  }
  const { artifact, uid } = source;
  const digest = artifact === undefined ? undefined : await recordedArtifact({ key, uid, artifact }, { deps, run });
  if (artifact === undefined || digest === undefined) {
    throw new Failure("NoArtifact", `no artifact available for include '${name}'`);
  }
  return { include, key, artifact, digest };
}

/** Puts the included artifacts into the tree, one by one. Throws a `Failure` `CopyFailure` or `IllegalPath` with Flux's text. */
export async function placeIncludes(
  tree: WorkTree,
  included: readonly Included[],
  limits: ArchiveLimits,
  ctx: SourceContext,
): Promise<void> {
  for (const each of included) await place(tree, each, limits, ctx);
}

/** Flux unpacks into a temporary folder of this name. */
const unpacked = "unpack";

async function place(
  tree: WorkTree,
  { include, key, digest }: Included,
  limits: ArchiveLimits,
  { deps, run }: SourceContext,
): Promise<void> {
  const { fromPath = "", repository } = include;
  const toPath = include.toPath === undefined || include.toPath === "" ? repository.name : include.toPath;
  if (
    /[\0\\]/.test(toPath) ||
    confined(toPath)
      .split("/")
      .some((part) => part.toLowerCase() === ".git")
  ) {
    const why = `toPath '${toPath}' must not have a backslash, a null character or a part '.git'`;
    throw new Failure("IllegalPath", `path calculation for include '${repository.name}' failed: ${why}`);
  }
  const [from, to] = [confined(fromPath), confined(toPath)];
  const source = from === "" ? unpacked : `${unpacked}/${from}`;
  const failed = (why: string, cause?: unknown): Failure =>
    new Failure("CopyFailure", `failed to copy '${repository.name}' include from ${fromPath} to ${toPath}: ${why}`, {
      cause,
    });

  const packed = await fetchArtifact(digest, { deps, run });
  if (packed === undefined) {
    // Lost by the store: its own run stores it again.
    await deps.requests.request(key, "its artifact is not in the store", run.signal);
    throw failed("artifact not found in storage");
  }
  const { entries } = await unpack(packed, limits, run.signal).catch((error: unknown) => {
    throw error instanceof RangeError ? failed(messageOf(error), error) : error;
  });
  const taken = entries.filter(({ path }) => from === "" || path === from || path.startsWith(`${from}/`));
  const isFile = taken.length === 1 && taken[0]?.path === from && taken[0].type === "file";
  if (from !== "" && taken.length === 0) {
    const folders = entries.flatMap((entry) => (entry.type === "directory" ? entry.path : []));
    const present = presentFolders("artifact", from, folders);
    throw failed(`cannot stat ${source}: stat ${source}: no such file or directory${present}`);
  }
  const there = tree.get(to);
  const fault = (why: string): Failure =>
    failed(`link error: cannot rename ${source} to ${to}: rename ${source} ${to}: ${why}`);
  if (to === "" || there?.type === "directory") throw fault("file exists");
  const inTheWay = addFolders(tree, to);
  if (inTheWay !== undefined) throw failed(`mkdir ${inTheWay}: not a directory`);
  if (there !== undefined && !isFile) throw fault("not a directory");
  if (!isFile) tree.set(to, { type: "directory", path: to });
  for (const entry of taken) {
    const path = entry.path === from ? to : `${to}/${from === "" ? entry.path : entry.path.slice(from.length + 1)}`;
    if (entry.type === "directory") tree.set(path, { type: "directory", path });
    else tree.set(path, { type: "file", path, mode: entry.mode, read: async () => entry.bytes });
  }
}
