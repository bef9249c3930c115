import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { messageOf } from "../../core/failure.ts";
import { readTar, type TarMember } from "./read-tar.ts";
import type { TreeEntry } from "./tree.ts";

/** What an archive may be. Flux has no limits here; a registry that anyone may push to needs some. */
export interface ArchiveLimits {
  /** Of the packed archive, so also of what is downloaded. */
  readonly maxPackedBytes: number;
  /** Of the unpacked tar, headers included. */
  readonly maxBytes: number;
  readonly maxEntries: number;
  readonly maxPathBytes: number;
  /** Folders inside each other. */
  readonly maxDepth: number;
  /** Unpacked bytes for each packed one; not looked at in the first 10 MiB, where honest YAML packs that well. */
  readonly maxRatio: number;
}

export const defaultArchiveLimits: ArchiveLimits = {
  maxPackedBytes: 50 * 1024 * 1024,
  maxBytes: 100 * 1024 * 1024,
  maxEntries: 50_000,
  maxPathBytes: 4_096,
  maxDepth: 100,
  maxRatio: 200,
};

export interface Unpacked {
  readonly entries: readonly TreeEntry[];
  /** Symbolic links, which are left out, and hard links, which become empty files, both as in Flux; never followed. */
  readonly links: readonly string[];
}

const ratioFreeBytes = 10 * 1024 * 1024;
const chunkBytes = 64 * 1024;

/**
 * Unpacks a `.tar.gz` into memory by Flux's rules (reference 4.3) and within limits. Streams, so that nothing larger than
 * the limits is ever held, and hands the thread back between chunks. Throws a `RangeError` that says what is wrong.
 */
export async function unpack(packed: Uint8Array, limits: ArchiveLimits, signal: AbortSignal): Promise<Unpacked> {
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) {
    throw new RangeError("requires gzip-compressed body: gzip: invalid header");
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  // The reader below sees the error of either stream; nothing is left to do for it here.
  const stream = pipeline(Readable.from(slices(packed)), gunzip, () => undefined);
  const tree = new Map<string, TreeEntry>();
  const links: string[] = [];
  let entries = 0;
  try {
    for await (const member of readTar(counted(stream, packed.length, limits, signal))) {
      if (++entries > limits.maxEntries) throw new RangeError(`tar has more than ${limits.maxEntries} entries`);
      if (member.size > limits.maxBytes) throw tooBig(limits);
      const path = pathOf(member.name, limits);
      await place(tree, links, member, path);
      // Folders that no member tells of count too.
      if (tree.size > limits.maxEntries) throw new RangeError(`tar has more than ${limits.maxEntries} entries`);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RangeError) throw error;
    throw new RangeError(`requires gzip-compressed body: ${messageOf(error)}`, { cause: error });
  } finally {
    stream.destroy();
  }
  return { entries: [...tree.values()], links };
}

async function place(tree: Map<string, TreeEntry>, links: string[], member: TarMember, path: string): Promise<void> {
  const { mode } = member;
  switch (member.type) {
    case "5":
      return addDirectories(tree, path, mode);
    case "2":
      links.push(path);
      return;
    case "3":
    case "4":
    case "6":
      throw new RangeError(
        `tar file entry ${member.name} contained unsupported file type ${modeText(member.type, mode)}`,
      );
    case "1":
      links.push(path);
      break;
  }
  // Everything else is a file to Go, a pax global header (as `git archive` writes one) too.
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
    if (found?.type === "file") throw new RangeError(`tar file entry ${path} lies below the file ${folder}`);
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
