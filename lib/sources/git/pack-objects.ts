import { createHash } from "node:crypto";
import { type TimeSlices, timeSlices } from "../../core/concurrency.ts";
import { GitFault } from "./git-fault.ts";
import type { GitObjects } from "./git-remote.ts";
import { oidTable } from "./oid-table.ts";
import { entryTypes, typeNames } from "./pack-entry.ts";
import { damagedPack, type PackFile, packHeaderBytes } from "./pack-file.ts";
import { objectCache, type PackLimits, type Unpacker, unpacker, unshared } from "./pack-unpacker.ts";

const oidBytes = 20;
const none = -1;

/**
 * The objects of a pack by their ids, each of which is the SHA-1 of its object. It keeps some 60 bytes for each object and a few
 * unpacked ones that others are made of, whatever the pack unpacks to. It lets other work run while it opens and reads. Disposes of the
 * pack with itself, also if it throws: a {@link GitFault} `protocol` or `too-large`, or the signal's reason.
 *
 * @param reading ends reads of the objects
 */
export async function openPack(
  pack: PackFile,
  limits: PackLimits,
  signal: AbortSignal,
  reading: AbortSignal = signal,
): Promise<GitObjects> {
  try {
    const unpack = unpacker(pack, limits);
    const slices = timeSlices(signal);
    const entries = await scan(pack, unpack, slices);
    const objects = packObjects(entries, unpack);
    await resolveDeltas(entries, objects, limits, slices);
    // Shared by all reads: each of many short ones ends before a slice of its own is over.
    const readSlices = timeSlices(reading);
    return {
      packedBytes: pack.bytes,
      has: (oid) => objects.find(oid) !== none,
      async read(oid) {
        const position = objects.find(oid);
        const type = typeNames[entries.types[position] ?? 0];
        if (type === undefined) throw new GitFault("missing", `object ${oid} of the repository was not fetched`);
        reading.throwIfAborted();
        if (readSlices.isOver()) await readSlices.pause();
        return { type, bytes: await objects.bytesOf(position, readSlices) };
      },
      [Symbol.asyncDispose]: () => pack[Symbol.asyncDispose](),
    };
  } catch (error) {
    await pack[Symbol.asyncDispose]();
    throw error;
  }
}

/** The known facts about the entries, by their positions in the pack. A pack may have a million entries, so the facts are in arrays. */
interface Entries {
  readonly count: number;
  /** Where each begins, and at last where they end. */
  readonly offsets: Float64Array;
  /** The object's type; for an unresolved delta its own type number. */
  readonly types: Uint8Array;
  /** The ids, one after the other; for an unresolved delta by id the id of its base. */
  readonly oids: Buffer;
  /** The entry that a delta is for. */
  readonly bases: Int32Array;
  /** The deltas for an entry, as a list: the first one, and the one after each. */
  readonly firstDelta: Int32Array;
  readonly nextDelta: Int32Array;
}

/** Reads all entries from the first to the last, since only its end tells where the next one begins. */
async function scan(pack: PackFile, unpack: Unpacker, slices: TimeSlices): Promise<Entries> {
  const count = pack.objects;
  const list = (): Int32Array => new Int32Array(count).fill(none);
  const entries: Entries = {
    count,
    offsets: new Float64Array(count + 1),
    types: new Uint8Array(count),
    oids: Buffer.alloc(count * oidBytes),
    bases: list(),
    firstDelta: list(),
    nextDelta: list(),
  };
  let at = packHeaderBytes;
  for (let position = 0; position < count; position++) {
    const { header, bytes, end } = await unpack.entryAt(at, slices);
    entries.offsets[position] = at;
    entries.types[position] = header.type;
    if (header.baseOid !== undefined) {
      entries.oids.set(header.baseOid, position * oidBytes);
    } else if (header.baseDistance === undefined) {
      await setOid(entries, position, bytes, slices);
    } else {
      const base = positionAt(entries.offsets, position, at - header.baseDistance);
      if (base === none) throw damagedPack("a delta has a base that is not an entry");
      addDelta(entries, base, position);
    }
    at = end;
    if (slices.isOver()) await slices.pause();
  }
  if (at !== pack.bytes) throw damagedPack("it has more bytes than its objects");
  entries.offsets[count] = at;
  return entries;
}

function addDelta({ bases, firstDelta, nextDelta }: Entries, base: number, position: number): void {
  bases[position] = base;
  nextDelta[position] = firstDelta[base] ?? none;
  firstDelta[base] = position;
}

/** Bytes that are hashed between two looks at the time. */
const hashedAtOnceBytes = 1024 * 1024;

async function setOid(
  { oids, types }: Entries,
  position: number,
  bytes: Uint8Array,
  slices: TimeSlices,
): Promise<void> {
  const type = typeNames[types[position] ?? 0];
  const hash = createHash("sha1").update(`${type} ${bytes.length}\0`);
  for (let at = 0; at < bytes.length; at += hashedAtOnceBytes) {
    hash.update(bytes.subarray(at, at + hashedAtOnceBytes));
    if (slices.isOver()) await slices.pause();
  }
  oids.set(hash.digest(), position * oidBytes);
}

/** The entry among the first `count` that begins here, by halving; -1 if none does. */
function positionAt(offsets: Float64Array, count: number, offset: number): number {
  let [low, high] = [0, count - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = offsets[middle] ?? 0;
    if (found === offset) return middle;
    if (found < offset) low = middle + 1;
    else high = middle - 1;
  }
  return none;
}

interface PackObjects {
  /** Makes an entry's object known by its id; false if an equal one is known already. */
  add(position: number): boolean;
  find(oid: string): number;
  /** The object's bytes; of a delta with all that it is made of. */
  bytesOf(position: number, slices: TimeSlices): Promise<Buffer>;
  /** Keeps bytes that are needed soon. */
  keep(position: number, bytes: Buffer): void;
}

function packObjects({ count, offsets, oids, bases, firstDelta }: Entries, unpack: Unpacker): PackObjects {
  const table = oidTable(oids, count);
  const cache = objectCache();
  const keep: PackObjects["keep"] = (position, bytes) => {
    if (firstDelta[position] !== none) cache.set(position, unshared(bytes));
  };
  return {
    add: (position) => table.add(position) === none,
    find(oid) {
      const bytes = Buffer.from(oid, "hex");
      return bytes.length === oidBytes ? table.find(bytes, 0) : none;
    },
    async bytesOf(position, slices) {
      const deltas: number[] = [];
      let at = position;
      let bytes = cache.get(at);
      for (let base = bases[at] ?? none; bytes === undefined && base !== none; base = bases[at] ?? none) {
        deltas.push(at);
        at = base;
        bytes = cache.get(at);
      }
      if (bytes === undefined) keep(at, (bytes = (await unpack.entryAt(offsets[at] ?? 0, slices)).bytes));
      for (const delta of deltas.toReversed()) {
        const difference = await unpack.entryAt(offsets[delta] ?? 0, slices);
        bytes = await unpack.combine(bytes, difference.bytes, slices);
        keep(delta, bytes);
        if (slices.isOver()) await slices.pause();
      }
      return bytes;
    },
    keep,
  };
}

/** Gives every object its id. An object is followed by the deltas for it, so that it need not be unpacked again for each. */
async function resolveDeltas(
  entries: Entries,
  objects: PackObjects,
  { maxDeltaDepth }: PackLimits,
  slices: TimeSlices,
): Promise<void> {
  const { count, types, bases, firstDelta, nextDelta } = entries;
  const adopt = await deltasById(entries, slices);
  const depths = new Uint16Array(count);
  let resolved = 0;
  const found = (position: number): void => {
    resolved++;
    if (objects.add(position)) adopt(position);
  };
  for (let position = 0; position < count; position++) {
    if (isObject(types[position])) found(position);
    if (slices.isOver()) await slices.pause();
  }

  const waiting: number[] = [];
  const pushDeltas = (base: number): void => {
    for (let delta = firstDelta[base] ?? none; delta !== none; delta = nextDelta[delta] ?? none) waiting.push(delta);
  };
  for (let root = 0; root < count; root++) {
    if (slices.isOver()) await slices.pause();
    // A delta whose base is known has been followed from there.
    if (!isObject(types[root]) || bases[root] !== none) continue;
    pushDeltas(root);
    for (let position = waiting.pop(); position !== undefined; position = waiting.pop()) {
      const base = bases[position] ?? none;
      const depth = (depths[base] ?? 0) + 1;
      if (depth > maxDeltaDepth) {
        throw new GitFault("too-large", `the pack has chains of more than ${maxDeltaDepth} deltas`);
      }
      depths[position] = depth;
      const bytes = await objects.bytesOf(position, slices);
      types[position] = types[base] ?? 0;
      await setOid(entries, position, bytes, slices);
      found(position);
      objects.keep(position, bytes);
      pushDeltas(position);
      if (slices.isOver()) await slices.pause();
    }
  }
  // A pack that leaves bases out (thin), which is not asked for, or deltas that are for each other.
  if (resolved < count) throw damagedPack(`${count - resolved} deltas are for objects that it does not have`);
}

function isObject(type: number | undefined): boolean {
  return typeNames[type ?? 0] !== undefined;
}

/** Gives an object, once its id is known, the deltas that name their base by it. */
async function deltasById(entries: Entries, slices: TimeSlices): Promise<(base: number) => void> {
  const { count, types, oids } = entries;
  const isById = (position: number): boolean => types[position] === entryTypes.refDelta;
  let length = 0;
  for (let position = 0; position < count; position++) if (isById(position)) length++;
  const positions = new Int32Array(length);
  // A copy: the id of a resolved delta takes the place of its base's.
  const wanted = Buffer.alloc(length * oidBytes);
  const table = oidTable(wanted, length);
  const nextEqual = new Int32Array(length).fill(none);
  let index = 0;
  for (let position = 0; position < count; position++) {
    if (slices.isOver()) await slices.pause();
    if (!isById(position)) continue;
    positions[index] = position;
    oids.copy(wanted, index * oidBytes, position * oidBytes, (position + 1) * oidBytes);
    const first = table.add(index);
    if (first !== none) {
      nextEqual[index] = nextEqual[first] ?? none;
      nextEqual[first] = index;
    }
    index++;
  }
  return (base) => {
    for (let next = table.find(oids, base * oidBytes); next !== none; next = nextEqual[next] ?? none) {
      addDelta(entries, base, positions[next] ?? none);
    }
  };
}
