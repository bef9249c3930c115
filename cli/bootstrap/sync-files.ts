import { posix } from "node:path";
import type { CloneFile, GitClone } from "../../lib/sources/git/write/git-clone.ts";
import { clusterOf } from "./sync-manifests.ts";

/** Where the files of a cluster are in its repository. */
export interface SyncFolder {
  /** `./clusters/prod`. */
  readonly path: string;
  readonly namespace: string;
}

/** What the folder is for, and what may be done with it. */
export interface FolderClaim {
  /** The uid of the cluster that is to follow it. */
  readonly cluster: string;
  /** Whether the cluster already follows this very folder: then a file that names no cluster is its own. */
  readonly isFollowed: boolean;
  /** Takes a folder that names another cluster. */
  readonly force: boolean;
}

/** What the repository holds that a bootstrap may change. */
export interface SyncFiles {
  /** Undefined where there is none. */
  readonly sync: string | undefined;
  readonly kustomization: string | undefined;
  readonly hasComponents: boolean;
  /** The clusters that other files `gotk-sync.yaml` in the folder name, by path: what is below the folder is applied with it. */
  readonly others: ReadonlyMap<string, string>;
  /** The same of the folders that the folder is in: a cluster that follows one of those applies this one too. */
  readonly around: ReadonlyMap<string, string>;
}

/** The limit for each file that is read. What Sluice writes has a few hundred bytes. */
export const maxSyncFileBytes = 256 * 1024;

const kustomizationText = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- gotk-sync.yaml
`;

/** The path in the repository of a file of {@link SyncFolder}, as flux has it. */
export function syncPath({ path, namespace }: SyncFolder, file: string): string {
  return posix.join(path, namespace, file);
}

/** Reads what is there. Throws a `GitFault`. */
export async function readSyncFiles(clone: GitClone, folder: SyncFolder, signal: AbortSignal): Promise<SyncFiles> {
  const paths = { sync: syncPath(folder, "gotk-sync.yaml"), kustomization: syncPath(folder, "kustomization.yaml") };
  const components = syncPath(folder, "gotk-components.yaml");
  const found = new Map<string, string>();
  const others = new Map<string, string>();
  const around = new Map<string, string>();
  let hasComponents = false;
  for await (const file of clone.files("", signal)) {
    if (file.path === components) hasComponents = true;
    if (Object.values(paths).includes(file.path)) {
      if (file.type === "symlink") {
        throw new Error(`${file.path} is a symbolic link: sluice bootstrap writes files only, replace it by a file`);
      }
      found.set(file.path, await textOf(file));
    } else if (posix.basename(file.path) === "gotk-sync.yaml" && file.type !== "symlink") {
      const where = isWithin(file.path, folder.path)
        ? others
        : // Flux's name of a file is FOLDER/NAMESPACE/gotk-sync.yaml.
          isWithin(folder.path, posix.join(file.path, "../.."))
          ? around
          : undefined;
      const cluster = where === undefined ? undefined : clusterOf(await textOf(file));
      if (cluster !== undefined) where?.set(file.path, cluster);
    }
  }
  return { sync: found.get(paths.sync), kustomization: found.get(paths.kustomization), hasComponents, others, around };
}

function isWithin(path: string, folder: string): boolean {
  const way = posix.relative(posix.join("/", folder), posix.join("/", path));
  return way !== ".." && !way.startsWith("../");
}

async function textOf(file: CloneFile): Promise<string> {
  const bytes = await file.read();
  if (bytes.length > maxSyncFileBytes) {
    throw new Error(
      `${file.path} has ${bytes.length} bytes, and at most ${maxSyncFileBytes} are read: move what sluice bootstrap did not write to another file`,
    );
  }
  return Buffer.from(bytes).toString();
}

/** Throws an Error that names the mend where the folder is not this cluster's. */
export function checkFolder(files: SyncFiles, folder: SyncFolder, { cluster, isFollowed, force }: FolderClaim): void {
  const at = syncPath(folder, "gotk-sync.yaml");
  if (files.hasComponents) {
    const components = syncPath(folder, "gotk-components.yaml");
    throw new Error(
      `${components} installs Flux's controllers, which would reconcile the same objects as Sluice: remove it and its line in kustomization.yaml (docs/moving-from-flux.md), or choose another --path`,
    );
  }
  if (force) return;
  for (const [path, named] of files.others) {
    if (named === cluster) continue;
    throw new Error(
      `${folder.path} contains the folder of another cluster: ${path} names the cluster ${named}, and this one, ${cluster}, would apply it too. Choose another --path, or give --force if that cluster is gone`,
    );
  }
  for (const [path, named] of files.around) {
    if (named === cluster) continue;
    throw new Error(
      `${folder.path} is in the folder of another cluster: ${path} names the cluster ${named}, which would also apply the files for this one, ${cluster}. Choose another --path, or give --force if that cluster is gone`,
    );
  }
  if (files.sync === undefined) return;
  const named = clusterOf(files.sync);
  if (named === cluster) return;
  if (named === undefined) {
    if (isFollowed) return;
    throw new Error(
      `${at} exists and names no cluster, so another cluster may follow ${folder.path}: choose another --path, or give --force if no other cluster does`,
    );
  }
  throw new Error(
    `${folder.path} is the folder of another cluster: ${at} names the cluster ${named}, and this one is ${cluster}. Choose another --path, or give --force if that cluster is gone`,
  );
}

/** The files to write, by path; none where everything is there. What a user has made of `kustomization.yaml` stays. */
export function changedFiles(files: SyncFiles, folder: SyncFolder, text: string): ReadonlyMap<string, Uint8Array> {
  const changed = new Map<string, Uint8Array>();
  if (files.sync !== text) changed.set(syncPath(folder, "gotk-sync.yaml"), Buffer.from(text));
  if (files.kustomization === undefined) {
    changed.set(syncPath(folder, "kustomization.yaml"), Buffer.from(kustomizationText));
  }
  return changed;
}
