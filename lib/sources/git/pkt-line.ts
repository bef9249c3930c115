import { GitFault } from "./git-fault.ts";
import type { GitBytes } from "./git-transport.ts";

/** Git's framing: a line of data, or one of the marks between them (gitprotocol-common). `end` ends an answer over HTTP. */
export type Pkt = { readonly type: "data"; readonly data: Buffer } | { readonly type: "delim" | "end" | "flush" };

export const flushPkt = "0000";
export const delimPkt = "0001";
const headerBytes = 4;
/** The limit for one packet, its four digits of length included. */
export const maxPktBytes = 65_520;

/** One line of a request, to which a line feed is added. */
export function pktLine(text: string): string {
  return pktText(`${text}\n`);
}

/** One packet of a request, as it is. */
export function pktText(text: string): string {
  const bytes = Buffer.byteLength(text) + headerBytes;
  if (bytes > maxPktBytes)
    throw new GitFault("too-large", `a line of a git request has more than ${maxPktBytes} bytes`);
  return `${bytes.toString(16).padStart(headerBytes, "0")}${text}`;
}

export interface PktReader {
  /** The next packet; undefined at the end. Throws a {@link GitFault} `protocol` for what is none. */
  next(): Promise<Pkt | undefined>;
  /** Reads past the end of a whole answer, so that its connection can be kept. */
  drain(): Promise<void>;
  /** All bytes that are left, without framing. */
  rest(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** Reads packets, whatever pieces their bytes come in. */
export function pktReader(bytes: GitBytes): PktReader {
  let pending: Buffer = Buffer.alloc(0);

  /** Makes at least so many bytes pending; false at a clean end. */
  const need = async (count: number): Promise<boolean> => {
    if (pending.length >= count) return true;
    const pieces = [pending];
    let length = pending.length;
    while (length < count) {
      const next = await bytes.next();
      if (next.done === true) {
        if (length === 0) return false;
        throw brokeOff();
      }
      pieces.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
      length += next.value.byteLength;
    }
    pending = Buffer.concat(pieces, length);
    return true;
  };
  const take = (count: number): Buffer => {
    const taken = pending.subarray(0, count);
    pending = pending.subarray(count);
    return taken;
  };

  return {
    async next() {
      if (!(await need(headerBytes))) return undefined;
      const length = lengthOf(take(headerBytes).toString("latin1"));
      if (length < headerBytes) return { type: marks[length] ?? "flush" };
      if (!(await need(length - headerBytes))) throw brokeOff();
      return { type: "data", data: take(length - headerBytes) };
    },
    async drain() {
      try {
        await bytes.next();
      } catch {
        // The answer is whole, whatever becomes of its connection.
      }
    },
    async *rest() {
      if (pending.length > 0) yield take(pending.length);
      for (let next = await bytes.next(); next.done !== true; next = await bytes.next()) yield next.value;
    },
  };
}

const marks = ["flush", "delim", "end"] as const;

function lengthOf(digits: string): number {
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
  if (Number.isNaN(length) || length === 3 || length > maxPktBytes) {
    throw new GitFault("protocol", "the answer is not git's: it has a line without a length");
  }
  return length;
}

/** An answer that ends before its end. */
export function brokeOff(): GitFault {
  return new GitFault("protocol", "the answer of the git server broke off");
}

/** The text of a line, without its line feed. Throws the {@link GitFault} of a line that is an error of the server. */
export function textOf(data: Buffer): string {
  const text = data.toString("utf8").replace(/\n$/, "");
  if (text.startsWith("ERR ")) throw faultOfServer(text.slice("ERR ".length));
  return text;
}

/**
 * What a server's own error text means. Its words are not shown: they may be anything.
 *
 * @param text as upload-pack and git hosts write it: `upload-pack: not our ref …`, `ERROR: Repository not found.`
 */
export function faultOfServer(text: string): GitFault {
  if (/not our ref|unadvertised object|missing (?:necessary )?object|bad object/i.test(text)) {
    return new GitFault("missing", "the git server does not give an object that it was asked for");
  }
  if (/not found|does not exist|not appear to be a git repository|could not read|no such/i.test(text)) {
    return new GitFault("not-found", "repository not found");
  }
  if (/denied|not authori[sz]ed|forbidden|not allowed|permission/i.test(text)) {
    return new GitFault("authorization", "authorization failed");
  }
  if (/too many|rate limit|temporarily|unavailable|timeout|try again/i.test(text)) {
    return new GitFault("unavailable", "the git server cannot answer now");
  }
  return new GitFault("protocol", "the git server broke off with an error of its own");
}
