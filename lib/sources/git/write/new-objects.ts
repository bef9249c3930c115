import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { GitFault } from "../git-fault.ts";
import type { GitObject, GitObjectType } from "../git-object.ts";
import type { GitObjects } from "../git-remote.ts";

/** The limit for the new objects of one clone together, before they are packed. They are in memory until the clone is disposed of. */
export const maxNewBytes = 32 * 1024 * 1024;

/** Objects that are made in memory, over those that were fetched. */
export interface NewObjects extends Pick<GitObjects, "read"> {
  /** Adds an object, unless it was fetched or added before, and answers its id. Throws a {@link GitFault} `too-large`. */
  add(type: GitObjectType, bytes: Uint8Array): string;
  /** The objects that the server does not have yet, as a pack. */
  pack(signal: AbortSignal): Promise<Buffer>;
  /** The server has all that was packed. */
  sent(): void;
}

const packed = promisify(deflate);
const typeNumbers: Readonly<Record<GitObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** @param fetched undefined in an empty repository */
export function newObjects(fetched: Pick<GitObjects, "has" | "read"> | undefined): NewObjects {
  const added = new Map<string, GitObject>();
  const waiting = new Set<string>();
  let bytesAdded = 0;
  return {
    add(type, bytes) {
      const oid = createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
      if (added.has(oid) || fetched?.has(oid) === true) return oid;
      bytesAdded += bytes.length;
      if (bytesAdded > maxNewBytes) {
        throw new GitFault(
          "too-large",
          `the new files, folders and commits have more than ${maxNewBytes} bytes together`,
        );
      }
      added.set(oid, { type, bytes });
      waiting.add(oid);
      return oid;
    },
    async read(oid) {
      const own = added.get(oid);
      if (own !== undefined) return own;
      if (fetched === undefined) throw new GitFault("missing", `object ${oid} is not in the repository`);
      return await fetched.read(oid);
    },
    async pack(signal) {
      const pieces = [packHead(waiting.size)];
      for (const oid of waiting) {
        signal.throwIfAborted();
        const object = added.get(oid);
        if (object !== undefined) pieces.push(entryHead(object), await packed(object.bytes));
      }
      const body = Buffer.concat(pieces);
      return Buffer.concat([body, createHash("sha1").update(body).digest()]);
    },
    sent: () => waiting.clear(),
  };
}

/** Version 2 (gitformat-pack). */
function packHead(objects: number): Buffer {
  const head = Buffer.from("PACK\0\0\0\u0002\0\0\0\0", "latin1");
  head.writeUInt32BE(objects, 8);
  return head;
}

/** The type and the length of an object: four bits of it in the first byte, seven in each that follows, the lowest first. */
function entryHead({ type, bytes }: GitObject): Buffer {
  const more = 0x80;
  const head = [(typeNumbers[type] << 4) | (bytes.length & 0x0f)];
  for (let rest = bytes.length >>> 4; rest > 0; rest >>>= 7) {
    head.push((head.pop() ?? 0) | more, rest & 0x7f);
  }
  return Buffer.from(head);
}
