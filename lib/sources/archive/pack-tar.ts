import { inWalkOrder, type TreeEntry } from "./tree.ts";

const blockBytes = 512;
const typeFlags = { file: "0", directory: "5", pax: "x" } as const;

/**
 * A tar of a tree, the way Flux writes one: first the root, named `.`, then the entries in walk order, without owner and
 * time, folders without a slash at the end. The same tree gives the same bytes. Piece by piece, so that the whole of a large
 * tree is never held twice.
 */
export function* packTar(entries: readonly TreeEntry[], rootMode: number): Generator<Uint8Array, void, undefined> {
  yield header(".", rootMode, 0, "directory");
  for (const entry of inWalkOrder(entries)) {
    const bytes = entry.type === "file" ? entry.bytes : new Uint8Array();
    if (!fitsUstar(entry.path)) {
      const record = paxRecord("path", entry.path);
      yield header(paxName(entry.path), 0, record.length, "pax");
      yield* padded(record);
    }
    yield header(entry.path, entry.mode, bytes.length, entry.type);
    yield* padded(bytes);
  }
  yield Buffer.alloc(2 * blockBytes);
}

function header(path: string, mode: number, size: number, type: keyof typeof typeFlags): Buffer {
  const block = Buffer.alloc(blockBytes);
  const { name, prefix } = splitUstar(path) ?? { name: ascii(path).slice(0, 100), prefix: "" };
  block.write(name, 0, 100, "latin1");
  block.write(octal(mode, 7), 100, "latin1");
  block.write(octal(0, 7), 108, "latin1");
  block.write(octal(0, 7), 116, "latin1");
  block.write(octal(size, 11), 124, "latin1");
  block.write(octal(0, 11), 136, "latin1");
  block.write("        ", 148, "latin1");
  block.write(typeFlags[type], 156, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  block.write(octal(0, 7), 329, "latin1");
  block.write(octal(0, 7), 337, "latin1");
  block.write(prefix, 345, 155, "latin1");
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${octal(checksum, 6)}\u0000 `, 148, "latin1");
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function padded(bytes: Uint8Array): Uint8Array[] {
  const rest = bytes.length % blockBytes;
  return rest === 0 ? [bytes] : [bytes, Buffer.alloc(blockBytes - rest)];
}

function fitsUstar(path: string): boolean {
  return path === ascii(path) && splitUstar(path) !== undefined;
}

/** A path as the two name fields of a ustar header, or undefined where it does not fit. */
function splitUstar(path: string): { name: string; prefix: string } | undefined {
  if (path !== ascii(path)) return undefined;
  if (path.length <= 100) return { name: path, prefix: "" };
  if (path.length > 256) return undefined;
  const slash = path.lastIndexOf("/", 155);
  const name = path.slice(slash + 1);
  if (slash <= 0 || name.length > 100 || name === "") return undefined;
  return { name, prefix: path.slice(0, slash) };
}

/** A record counts itself: its length is part of its length. */
function paxRecord(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return Buffer.from(`${length}${rest}`);
}

function paxName(path: string): string {
  const slash = path.lastIndexOf("/");
  return `${path.slice(0, slash + 1)}PaxHeaders.0/${path.slice(slash + 1)}`;
}

function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}
