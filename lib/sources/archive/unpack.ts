import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageOf } from "../../core/failure.ts";
import type { UnreadEntry } from "./archive-tree.ts";
import { followLinks, type Link, type LinkedEntry } from "./follow-links.ts";
import type { TreeEntry } from "./pack-tar.ts";
import { readTar, type TarMember } from "./read-tar.ts";

/** Limits of an archive. Flux has none; we need them for registries that anyone may push to. */
export interface ArchiveLimits {
  /** The limit for the packed archive, and therefore for the download. */
  readonly maxPackedBytes: number;
  /** The limit for the unpacked tar, headers included. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  readonly maxPathBytes: number;
  /** Nested folders. */
  readonly maxDepth: number;
  /** Unpacked bytes for each packed one. The first 10 MiB are exempt, since small YAML files compress that well. */
  readonly maxRatio: number;
}

export const defaultArchiveLimits: ArchiveLimits = {
  maxPackedBytes: 50 * 1024 * 1024,
  maxBytes: 160 * 1024 * 1024,
  maxEntries: 100_000,
  maxPathBytes: 4_096,
  maxDepth: 100,
  maxRatio: 200,
};

export interface Unpacked {
  /** As in Flux: symbolic links are left out and hard links are empty files. */
  readonly entries: readonly TreeEntry[];
  /** The links, for {@link withLinksFollowed}. */
  readonly links: readonly Link[];
}

/** The limit for all paths together, including those of the copies. */
const maxLinkedPathsBytes = 32 * 1024 * 1024;

/** Go reads the whole head before it looks at it. */
const gzipHeadBytes = 10;
const ratioFreeBytes = 10 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * Unpacks a `.tar.gz` into memory by Flux's rules (reference 4.3) and within limits. It streams, so that it never holds more than
 * the limits allow and yields between chunks. Throws a `RangeError` for an invalid archive or an exceeded limit.
 */
export async function unpack(packed: Uint8Array, limits: ArchiveLimits, signal: AbortSignal): Promise<Unpacked> {
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) {
    const why = packed.length === 0 ? "EOF" : packed.length < gzipHeadBytes ? "unexpected EOF" : "gzip: invalid header";
    throw new RangeError(`requires gzip-compressed body: ${why}`);
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  // The reader below gets the error of either stream.
  const stream = pipeline(Readable.from(slices(packed)), gunzip, () => undefined);
  const tree = new Map<string, TreeEntry>();
  const links = new Map<string, Link>();
  let entries = 0;
  try {
    for await (const member of readTar(counted(stream, packed.length, limits, signal))) {
      if (++entries > limits.maxEntries) throw new RangeError(`tar has more than ${limits.maxEntries} entries`);
      if (member.size > limits.maxBytes) throw tooBig(limits);
      const path = pathOf(member.name, limits);
      refuseLongLink(member, limits);
      await place(tree, links, member, path);
      // Also counts folders that are not members of the tar.
      if (tree.size > limits.maxEntries) throw new RangeError(`tar has more than ${limits.maxEntries} entries`);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RangeError) throw error;
    throw new RangeError(`requires gzip-compressed body: ${messageOf(error)}`, { cause: error });
  } finally {
    stream.destroy();
  }
  return { entries: [...tree.values()], links: [...links.values()] };
}

/**
 * The entries of an archive with a copy of what each link leads to in its place. A link is a file whose `read` throws a `RangeError` with
 * its name, if its target is outside the archive, does not exist or contains the link. Throws a `RangeError` if a link stands in the place
 * of a folder, or if the copies exceed the limits.
 *
 * @param mend what the author can do about a link that is refused
 */
export async function withLinksFollowed(
  { entries, links }: Unpacked,
  { limits, mend }: { readonly limits: ArchiveLimits; readonly mend: string },
  signal: AbortSignal,
): Promise<readonly UnreadEntry[]> {
  const sizes = new Map<unknown, number>();
  const tree = new Map<string, LinkedEntry>();
  for (const entry of entries) {
    if (entry.type === "directory") tree.set(entry.path, entry);
    else {
      const { bytes, ...file } = entry;
      const read = async (): Promise<Uint8Array> => bytes;
      sizes.set(read, bytes.length);
      tree.set(entry.path, { ...file, read });
    }
  }
  for (const link of links) placeLink(tree, link);
  const { maxEntries, maxPathBytes } = limits;
  const words = { root: "archive", whole: "archive", mend, fault: (text: string) => new RangeError(text) };
  const maxPathsBytes = maxLinkedPathsBytes;
  const followed = await followLinks({ entries: tree, ...words, maxEntries, maxPathBytes, maxPathsBytes }, signal);
  const bytes = followed.reduce((sum, entry) => sum + (entry.type === "file" ? (sizes.get(entry.read) ?? 0) : 0), 0);
  if (bytes <= limits.maxBytes) return followed;
  throw new RangeError(`with the targets of its links, the archive is bigger than ${limits.maxBytes} bytes`);
}

function placeLink(tree: Map<string, LinkedEntry>, link: Link): void {
  const { path } = link;
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
    const folder = path.slice(0, end);
    const found = tree.get(folder);
    if (found === undefined) tree.set(folder, { type: "directory", path: folder });
    else if (found.type !== "directory")
      throw new RangeError(`tar file entry ${path} lies below the ${found.type} ${folder}`);
  }
  if (path === "" || tree.get(path)?.type === "directory") {
    throw new RangeError(`tar file entry ${path} is a link where a folder is`);
  }
  tree.set(path, link);
}

async function place(
  tree: Map<string, TreeEntry>,
  links: Map<string, Link>,
  member: TarMember,
  path: string,
): Promise<void> {
  const { mode, link: target } = member;
  links.delete(path);
  switch (member.type) {
    case "5":
      return addDirectories(tree, path, mode);
    case "2":
      links.set(path, { type: "link", path, target });
      return;
    case "3":
    case "4":
    case "6":
      throw new RangeError(
        `tar file entry ${member.name} contained unsupported file type ${modeText(member.type, mode)}`,
      );
    case "1":
      links.set(path, { type: "link", path, target, isHard: true });
      break;
  }
  // Go takes everything else for a file, even a pax global header, which `git archive` writes.
  const slash = path.lastIndexOf("/");
  if (slash !== -1) addDirectories(tree, path.slice(0, slash), 0o755);
  if (path === "" || tree.get(path)?.type === "directory") {
    throw new RangeError(`tar file entry ${member.name} is a file where a folder is`);
  }
  tree.set(path, { type: "file", path, mode, bytes: await member.bytes() });
}

function addDirectories(tree: Map<string, TreeEntry>, path: string, mode: number): void {
  if (path === "" || tree.get(path)?.type === "directory") return;
  for (let end = path.indexOf("/"); ; end = path.indexOf("/", end + 1)) {
    const folder = end === -1 ? path : path.slice(0, end);
    const found = tree.get(folder);
    if (found?.type === "file") throw new RangeError(`mkdir ${folder}: not a directory`);
    if (found === undefined) tree.set(folder, { type: "directory", path: folder, mode });
    if (end === -1) return;
  }
}

/** The name as a relative path without `.` and empty parts; empty for the root. */
function pathOf(name: string, limits: ArchiveLimits): string {
  const isBad = name === "" || name.startsWith("/") || name.includes("\\") || name.includes("../");
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (isBad || parts.includes("..") || name.includes("\0")) {
    throw new RangeError(`tar contained invalid name error ${JSON.stringify(name.slice(0, 200))}`);
  }
  if (Buffer.byteLength(name) > limits.maxPathBytes) {
    throw new RangeError(`tar has a path of more than ${limits.maxPathBytes} bytes: ${name.slice(0, 100)}...`);
  }
  if (parts.length > limits.maxDepth) {
    throw new RangeError(`tar has folders more than ${limits.maxDepth} deep: ${name.slice(0, 100)}...`);
  }
  return parts.join("/");
}

/** As in a checkout of git, and as Linux: no disk has a longer one. Following a link costs as much as its text is long. */
function refuseLongLink({ name, type, link }: TarMember, { maxPathBytes }: ArchiveLimits): void {
  if ((type !== "1" && type !== "2") || Buffer.byteLength(link) <= maxPathBytes) return;
  throw new RangeError(`tar file entry ${name} is a link of more than ${maxPathBytes} bytes: ${link.slice(0, 100)}...`);
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  packedBytes: number,
  limits: ArchiveLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > limits.maxBytes) throw tooBig(limits);
    if (bytes > ratioFreeBytes && bytes > packedBytes * limits.maxRatio) {
      throw new RangeError(`tar unpacks to more than ${limits.maxRatio} times its packed size`);
    }
    yield chunk;
  }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

function tooBig(limits: ArchiveLimits): RangeError {
  return new RangeError(`tar is bigger than max archive size of ${limits.maxBytes} bytes`);
}

/** As Go prints a file mode: `Dcrw-r--r--`. */
function modeText(type: string, mode: number): string {
  const kind = type === "3" ? "Dc" : type === "4" ? "D" : "p";
  const bits = Array.from("rwxrwxrwx", (letter, index) => ((mode >> (8 - index)) & 1 ? letter : "-"));
  return `${kind}${bits.join("")}`;
}
