import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Where the registry keeps what it holds. A repository's own folders begin with an underscore, which no part of a
 * repository's name can. Every write goes to a new file and is renamed, so a killed process leaves the old or the new.
 */
export interface RegistryFiles {
  readonly repositories: string;
  readonly blob: (digest: string) => string;
  readonly blobLink: (repository: string, digest: string) => string;
  readonly upload: (repository: string, id: string) => string;
  readonly manifests: (repository: string) => string;
  readonly manifest: (repository: string, digest: string) => string;
  readonly tag: (repository: string, tag: string) => string;
  readonly tags: (repository: string) => string;
  readonly referrers: (repository: string, subject: string) => string;
  readonly temporary: () => string;
}

const manifestsFolder = "_manifests";

export function registryFiles(folder: string): RegistryFiles {
  const flat = (digest: string): string => digest.replace(":", "-");
  const repositories = join(folder, "repositories");
  const own = (repository: string, kind: string): string => join(repositories, repository, kind);
  return {
    repositories,
    blob: (digest) => join(folder, "blobs", flat(digest)),
    blobLink: (repository, digest) => join(own(repository, "_blobs"), flat(digest)),
    upload: (repository, id) => join(own(repository, "_uploads"), id),
    manifests: (repository) => own(repository, manifestsFolder),
    manifest: (repository, digest) => join(own(repository, manifestsFolder), flat(digest)),
    tag: (repository, tag) => join(own(repository, "_tags"), tag),
    tags: (repository) => own(repository, "_tags"),
    referrers: (repository, subject) => join(own(repository, "_referrers"), flat(subject)),
    temporary: () => join(folder, "temporary", randomUUID()),
  };
}

export async function writeWhole(files: RegistryFiles, path: string, content: string | Uint8Array): Promise<void> {
  const temporary = files.temporary();
  await mkdir(dirname(temporary), { recursive: true });
  await writeFile(temporary, content);
  await moveInto(temporary, path);
}

export async function moveInto(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await rename(from, to);
}

/** Bytes of a file, or undefined where it is not there. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch(undefinedIfMissing);
}

/** Size of a file, or undefined where it is not there. */
export async function sizeIfThere(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(undefinedIfMissing);
  return found?.size;
}

/** Names in a folder, sorted by code unit; none where it is not there. */
export async function namesIn(path: string): Promise<readonly string[]> {
  const names = await readdir(path).catch(undefinedIfMissing);
  return (names ?? []).toSorted();
}

/** Repositories with manifests, in the order of the parts of their names: `a/b` stands before `a-b`. */
export async function repositoriesIn(files: RegistryFiles, parent = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await namesIn(join(files.repositories, parent))) {
    if (name === manifestsFolder) found.push(parent);
    else if (!name.startsWith("_"))
      found.push(...(await repositoriesIn(files, parent === "" ? name : `${parent}/${name}`)));
  }
  return found;
}

/** Whether it was there. */
export async function removeFile(path: string): Promise<boolean> {
  if ((await sizeIfThere(path)) === undefined) return false;
  await rm(path, { force: true });
  return true;
}

function undefinedIfMissing(error: unknown): undefined {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
    return undefined;
  throw error;
}
