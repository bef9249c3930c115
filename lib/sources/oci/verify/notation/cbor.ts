/** Nesting of a CBOR value. A signature of Notation has four levels. */
export const maxCborDepth = 16;

/** What is read of CBOR: whole numbers, bytes, texts, lists, maps and tagged values; no floating point numbers, no open lengths. */
export type Cbor = bigint | boolean | null | string | Uint8Array | readonly Cbor[] | CborMap | CborTag;
export type CborMap = ReadonlyMap<bigint | string, Cbor>;
export class CborTag {
  readonly tag: bigint;
  readonly value: Cbor;
  constructor(tag: bigint, value: Cbor) {
    this.tag = tag;
    this.value = value;
  }
}

/** Reads one CBOR value (RFC 8949) that takes all of the bytes. Throws a `RangeError`; a value of many bytes costs no more than they do. */
export function readCbor(bytes: Uint8Array): Cbor {
  const reader = { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
  const value = readValue(reader, 0);
  if (reader.at !== bytes.length) throw new RangeError("there are bytes behind the CBOR value");
  return value;
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function readValue(reader: Reader, depth: number): Cbor {
  if (depth > maxCborDepth) throw new RangeError(`CBOR is nested more than ${maxCborDepth} levels deep`);
  const first = take(reader, 1)[0] ?? 0;
  const [major, info] = [first >> 5, first & 31];
  if (major === 7) return simple(info);
  const argument = readArgument(reader, info);
  switch (major) {
    case 0:
      return argument;
    case 1:
      return -1n - argument;
    case 2:
      return new Uint8Array(take(reader, argument));
    case 3:
      return new TextDecoder("utf-8", { fatal: true }).decode(take(reader, argument));
    case 4:
      return readList(reader, argument, depth);
    case 5:
      return readMap(reader, argument, depth);
    default:
      return new CborTag(argument, readValue(reader, depth + 1));
  }
}

function simple(info: number): boolean | null {
  if (info === 20 || info === 21) return info === 21;
  if (info === 22) return null;
  throw new RangeError("CBOR holds a value of an unsupported type");
}

function readArgument(reader: Reader, info: number): bigint {
  if (info < 24) return BigInt(info);
  if (info > 27) throw new RangeError("CBOR of open length is not supported");
  const bytes = take(reader, 2 ** (info - 24));
  return BigInt(`0x${bytes.toString("hex")}`);
}

function take(reader: Reader, count: bigint | number): Buffer {
  if (count > reader.bytes.length - reader.at) throw new RangeError("CBOR ends too early");
  const begin = reader.at;
  reader.at += Number(count);
  return reader.bytes.subarray(begin, reader.at);
}

function readList(reader: Reader, count: bigint, depth: number): readonly Cbor[] {
  const items: Cbor[] = [];
  for (let index = 0n; index < count; index++) items.push(readValue(reader, depth + 1));
  return items;
}

function readMap(reader: Reader, count: bigint, depth: number): CborMap {
  const entries = new Map<bigint | string, Cbor>();
  for (let index = 0n; index < count; index++) {
    const key = readValue(reader, depth + 1);
    if (typeof key !== "bigint" && typeof key !== "string")
      throw new RangeError("a key in CBOR is neither number nor text");
    if (entries.has(key)) throw new RangeError("a key in CBOR is there twice");
    entries.set(key, readValue(reader, depth + 1));
  }
  return entries;
}
