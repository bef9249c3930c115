import { timeSlices } from "../../core/concurrency.ts";
import type { FileTree } from "../../core/ports/engine.ts";
import type { DataKeys } from "../../sops/data-key.ts";
import { verifyFile } from "../../sops/file/decrypt-file.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { isKustomization, mayBeRead, onlyQuotes, textOf } from "../sealed/quoted-mac.ts";
import type { SealedPart } from "../sealed/sealed-parts.ts";
import { sealedPartsSafely } from "../thread/off-thread.ts";
import { faultOfFile } from "./decryption.ts";

/** What sops wrote as one file: a file of the artifact, or those documents of it that have one MAC. */
export interface SealedFile extends SealedPart {
  /** Whether kustomize may read it. If not, no object comes from it, and its MAC is a quotation. */
  readonly isRead: boolean;
}

/** The files of an artifact that sops has encrypted as YAML or JSON, by their MAC as it is written there. */
export type SealedFiles = ReadonlyMap<string, readonly SealedFile[]>;

/**
 * The files whose text holds these MACs, wherever and however it is written there: an object is read by a parser, which may find
 * its MAC under a key or in a form that a search for `mac:` does not. A MAC that the artifact has nowhere is missing from the
 * answer. The whole artifact is searched: kustomize takes resources from files of any name.
 *
 * @throws Failure `BuildFailed` where a large file takes too long; the reason `signal` was aborted with
 */
export async function sealedFiles(
  { files }: Pick<FileTree, "files">,
  macs: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<SealedFiles> {
  const found = new Map<string, SealedFile[]>();
  if (macs.size === 0) return found;
  const isReadAt = mayBeRead({ files });
  const slices = timeSlices(signal);
  for (const [path, bytes] of files) {
    if (slices.isOver()) await slices.pause();
    for (const part of await sealedPartsSafely({ path, bytes, macs }, signal)) {
      const file = { ...part, isRead: isReadAt(path) };
      const list = found.get(file.mac) ?? [];
      list.push(file);
      found.set(file.mac, list);
    }
  }
  return found;
}

/**
 * Whether the files that hold the MAC of an object are as sops wrote them, all of them. Files that only quote it are passed over: one
 * at least has to be verified. Each MAC is verified once.
 *
 * @returns verifies one MAC. Throws a {@link SopsFault}
 */
export function macVerifier(sealed: SealedFiles, keys: DataKeys, signal: AbortSignal): (mac: string) => Promise<void> {
  const verified = new Map<string, Promise<void>>();
  const verify = async (mac: string): Promise<void> => {
    let proofs = 0;
    for (const file of sealed.get(mac) ?? []) if (await isProof(file, keys, signal)) proofs++;
    if (proofs > 0) return;
    throw new SopsFault(
      "failed to verify sops data integrity: its mac is in no file of the artifact: commit the file as sops wrote it, or set sops-ignore-mac",
    );
  };
  return (mac) => {
    const known = verified.get(mac) ?? verify(mac);
    verified.set(mac, known);
    return known;
  };
}

/** Files of cached builds: their bytes do not change, and no other data key verifies them. */
const verifiedFiles = new WeakSet<SealedFile>();

/** Whether the file is as sops wrote it; false if it only quotes the MAC. Throws a {@link SopsFault} if it is neither. */
async function isProof(file: SealedFile, keys: DataKeys, signal: AbortSignal): Promise<boolean> {
  if (verifiedFiles.has(file)) return true;
  const { path, format, bytes, mac, isRead } = file;
  if (!isRead) return false;
  try {
    const metadata = await verifyFile(bytes, format, keys, signal);
    // A file may be right by its own MAC, and hold an object of another file with that one's.
    if (metadata.mac !== mac) throw new SopsFault("failed to verify sops data integrity: its mac is of another file");
    verifiedFiles.add(file);
    return true;
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    // Checked last, since nearly every file with a MAC is one of sops.
    if (!isKustomization(path) && onlyQuotes(textOf(bytes), mac)) return false;
    throw new SopsFault(faultOfFile(error.message, path), { cause: error });
  }
}
