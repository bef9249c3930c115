/** One member of a tar, with long names (pax, GNU) resolved. */
export interface TarMember {
  readonly name: string;
  /** The type flag; `0` for a regular file of any dialect. */
  readonly type: string;
  /** Permission bits. */
  readonly mode: number;
  /** The target of a link, as it is written. */
  readonly link: string;
  /** Bytes of the content; 0 for types that have none. */
  readonly size: number;
  /** The content. Call it before the next member is requested: after that the content is skipped. */
  bytes(): Promise<Uint8Array>;
}

const blockBytes = 512;
export const maxHeaderBytes = 1024 * 1024;

/**
 * The members of a tar that is read as a stream. Ends at the end mark, or at the end of the stream between two members, as in
 * Go; what follows the end mark is not read. Reads ustar, pax and GNU's long names; refuses GNU's sparse files. Throws a
 * `RangeError` with Go's text for an invalid or truncated tar.
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember, void, undefined> {
  const reader = byteReader(chunks);
  let pax: ReadonlyMap<string, string> = new Map();
  let longName: string | undefined;
  let longLink: string | undefined;
  for (;;) {
    if (await reader.hasEnded()) return;
    const block = await readBlock(reader);
    if (isZero(block)) return endAfterMark(reader);
    const header = parseHeader(block);
    if (header.type === "x") {
      pax = parsePax(await readHeaderBody(reader, header.size));
    } else if (header.type === "L") {
      longName = text(await readHeaderBody(reader, header.size));
    } else if (header.type === "K") {
      longLink = text(await readHeaderBody(reader, header.size));
    } else {
      // As in Go: of what counts for all members only the name is left, of a file without content.
      if (header.type === "g") await readHeaderBody(reader, header.size);
      const name = longName ?? pax.get("path") ?? header.name;
      const link = longLink ?? pax.get("linkpath") ?? header.link;
      yield* member(reader, header.type === "g" ? { ...header, size: 0 } : header, { name, link, pax });
      pax = new Map();
      longName = undefined;
      longLink = undefined;
    }
  }
}

type Header = ReturnType<typeof parseHeader>;

async function* member(
  reader: ByteReader,
  { type: flag, mode, size: headerSize }: Header,
  { name, link, pax }: { readonly name: string; readonly link: string; readonly pax: ReadonlyMap<string, string> },
): AsyncGenerator<TarMember, void, undefined> {
  // Before POSIX files had no type flag, and a folder was a file whose name ended with a slash.
  const type = flag === "\0" ? (name.endsWith("/") ? "5" : "0") : flag;
  if (type === "S" || pax.has("GNU.sparse.major") || pax.has("GNU.sparse.map")) {
    throw new RangeError(`tar file entry ${name} is a sparse file, which is not supported`);
  }
  const paxSize = pax.get("size");
  const declaredSize = paxSize === undefined ? headerSize : Number(paxSize);
  if (!Number.isSafeInteger(declaredSize) || declaredSize < 0) throw invalidHeader();
  // Links, devices and folders have no content, whatever size their header declares.
  const size = /[123456]/.test(type) ? 0 : declaredSize;
  let unread = size;
  yield {
    name,
    type,
    mode,
    link,
    size,
    async bytes() {
      unread = 0;
      const content = await reader.read(size);
      if (content === undefined) throw unexpectedEnd();
      await reader.skip(padding(size));
      return content;
    },
  };
  if (unread === 0) return;
  // The padding may be missing at the end of the stream, the content may not.
  if (!(await reader.skip(unread))) throw unexpectedEnd();
  await reader.skip(padding(size));
}

function parseHeader(block: Uint8Array): { name: string; link: string; type: string; mode: number; size: number } {
  const buffer = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  let sum = 0;
  for (let index = 0; index < blockBytes; index++) sum += index >= 148 && index < 156 ? 32 : (buffer[index] ?? 0);
  if (parseNumber(buffer.subarray(148, 156)) !== sum) throw invalidHeader();
  const isUstar = buffer.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isUstar ? text(buffer.subarray(345, 500)) : "";
  const base = text(buffer.subarray(0, 100));
  const name = prefix === "" ? base : `${prefix}/${base}`;
  const flag = buffer.toString("latin1", 156, 157);
  const type = flag === "7" ? "0" : flag;
  return {
    name,
    link: text(buffer.subarray(157, 257)),
    type,
    mode: parseNumber(buffer.subarray(100, 108)) & 0o7777,
    size: parseNumber(buffer.subarray(124, 136)),
  };
}

/** Octal text, or big-endian binary marked by the highest bit (GNU, for sizes past 8 GiB). */
function parseNumber(field: Buffer): number {
  const first = field[0] ?? 0;
  if ((first & 0x80) !== 0) {
    const value = field.reduce((total, byte, index) => total * 256 + (index === 0 ? byte & 0x7f : byte), 0);
    if (!Number.isSafeInteger(value) || first === 0xff) throw invalidHeader();
    return value;
  }
  const digits = text(field).trim();
  if (!/^[0-7]*$/.test(digits)) throw invalidHeader();
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

/** Records `<length> <key>=<value>\n`, the length counting itself. */
function parsePax(bytes: Uint8Array): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  const buffer = Buffer.from(bytes);
  for (let at = 0; at < buffer.length; ) {
    const space = buffer.indexOf(0x20, at);
    const digits = space === -1 ? "" : buffer.toString("latin1", at, space);
    const end = at + Number(digits);
    if (!/^\d{1,7}$/.test(digits) || end > buffer.length || end <= space || buffer[end - 1] !== 0x0a)
      throw invalidHeader();
    const record = buffer.toString("utf8", space + 1, end - 1);
    const equals = record.indexOf("=");
    if (equals <= 0) throw invalidHeader();
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return records;
}

async function readBlock(reader: ByteReader): Promise<Uint8Array> {
  const block = await reader.read(blockBytes);
  if (block === undefined) throw unexpectedEnd();
  return block;
}

/** The end mark is two blocks of zeros. As in Go, one block is enough at the end of the stream. */
async function endAfterMark(reader: ByteReader): Promise<void> {
  if (await reader.hasEnded()) return;
  if (!isZero(await readBlock(reader))) throw invalidHeader();
}

async function readHeaderBody(reader: ByteReader, size: number): Promise<Uint8Array> {
  if (size > maxHeaderBytes) throw invalidHeader();
  const bytes = await reader.read(size);
  if (bytes === undefined) throw unexpectedEnd();
  await reader.skip(padding(size));
  return bytes;
}

function padding(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** The text before the first NUL. */
function text(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

function unexpectedEnd(): RangeError {
  return new RangeError("tar error: unexpected EOF");
}

function invalidHeader(): RangeError {
  return new RangeError("tar error: archive/tar: invalid tar header");
}

/** Reads a stream in pieces of known length. */
interface ByteReader {
  /** Whether no byte is left; waits for the stream if necessary. */
  hasEnded(): Promise<boolean>;
  /** Exactly `length` bytes; undefined if the stream ends before. */
  read(length: number): Promise<Uint8Array | undefined>;
  /** Skips `length` bytes; false if the stream ends before. */
  skip(length: number): Promise<boolean>;
}

function byteReader(chunks: AsyncIterable<Uint8Array>): ByteReader {
  const source = chunks[Symbol.asyncIterator]();
  let chunk: Uint8Array = new Uint8Array();
  const fill = async (): Promise<boolean> => {
    while (chunk.length === 0) {
      const next = await source.next();
      if (next.done === true) return false;
      chunk = next.value;
    }
    return true;
  };
  const take = (length: number): Uint8Array => {
    const piece = chunk.subarray(0, length);
    chunk = chunk.subarray(length);
    return piece;
  };
  return {
    hasEnded: async () => !(await fill()),
    async read(length) {
      if (chunk.length >= length) return take(length);
      const pieces: Uint8Array[] = [];
      for (let missing = length; missing > 0; ) {
        if (!(await fill())) return undefined;
        const piece = take(missing);
        pieces.push(piece);
        missing -= piece.length;
      }
      return Buffer.concat(pieces, length);
    },
    async skip(length) {
      for (let missing = length; missing > 0; ) {
        if (!(await fill())) return false;
        missing -= take(missing).length;
      }
      return true;
    },
  };
}
