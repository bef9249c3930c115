import { safeText } from "../../core/safe-text.ts";
import { GitFault } from "./git-fault.ts";

/** An object as git stores it, without its header. */
export interface GitObject {
  readonly type: GitObjectType;
  readonly bytes: Uint8Array;
}

export type GitObjectType = "blob" | "commit" | "tag" | "tree";

/** The id of an object: 40 hexadecimal digits in lower case. */
const oidPattern = /^[0-9a-f]{40}$/;

/** The fields of a commit. `verify/signed-object.ts` reads its signature, and the bytes that are signed. */
export interface GitCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** When it was committed, in seconds since 1970. */
  readonly committedAt: number;
  readonly message: string;
}

/** The fields of an annotated tag. */
export interface GitTag {
  readonly name: string;
  readonly object: string;
  readonly type: GitObjectType;
}

export function isOid(text: string): boolean {
  return oidPattern.test(text);
}

/** The limit for a commit or a tag. Those that people write have some kilobytes, a signature included. */
export const maxCommitBytes = 1024 * 1024;

/** Throws a {@link GitFault} `too-large` for a commit or tag of more than {@link maxCommitBytes}: before it is read line by line. */
export function assertSmall({ length }: Uint8Array, type: "commit" | "tag"): void {
  if (length <= maxCommitBytes) return;
  throw new GitFault("too-large", `the repository has a ${type} of more than ${maxCommitBytes} bytes`);
}

/** Throws a {@link GitFault} `protocol` if the bytes are not those of a commit, `too-large` if they are too many. */
export function parseCommit(bytes: Uint8Array): GitCommit {
  assertSmall(bytes, "commit");
  const { headers, messageAt } = headersOf(bytes);
  const [tree = ""] = valuesOf(headers, "tree");
  const [committer = ""] = valuesOf(headers, "committer");
  const parents = [...valuesOf(headers, "parent")];
  const [, seconds] = /> (-?\d{1,15}) [+-]\d+$/.exec(committer) ?? [];
  if (![tree, ...parents].every(isOid) || seconds === undefined) throw damaged("commit");
  return { tree, parents, committedAt: Number(seconds), message: textOf(bytes.subarray(messageAt)) };
}

/** Throws a {@link GitFault} `protocol` if the bytes are not those of an annotated tag, `too-large` if they are too many. */
export function parseTag(bytes: Uint8Array): GitTag {
  assertSmall(bytes, "tag");
  const { headers } = headersOf(bytes);
  const [object = ""] = valuesOf(headers, "object");
  const [type = ""] = valuesOf(headers, "type");
  const [name] = valuesOf(headers, "tag");
  if (!isOid(object) || !isObjectType(type) || name === undefined) throw damaged("tag");
  return { name, object, type };
}

/** The headers, each line with a line feed before it, and where the message begins: after the first empty line. */
function headersOf(bytes: Uint8Array): { readonly headers: string; readonly messageAt: number } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isEmpty = buffer[0] === lineFeed;
  const found = isEmpty ? 0 : buffer.indexOf("\n\n");
  const end = found === -1 ? buffer.length : found;
  const messageAt = Math.min(isEmpty ? 1 : end + 2, buffer.length);
  return { headers: `\n${textOf(buffer.subarray(0, end))}`, messageAt };
}

/** The values of the headers of this name, in their order; of one of several lines the first. */
function* valuesOf(headers: string, name: string): Generator<string, void, undefined> {
  const begin = `\n${name} `;
  for (let at = headers.indexOf(begin); at !== -1; at = headers.indexOf(begin, at + begin.length)) {
    const end = headers.indexOf("\n", at + begin.length);
    yield headers.slice(at + begin.length, end === -1 ? headers.length : end);
  }
}

const lineFeed = 0x0a;
/** The limit for the first line of a message, far more than is shown. */
const readSubjectUnits = 4_096;

function isObjectType(text: string): text is GitObjectType {
  return text === "blob" || text === "commit" || text === "tag" || text === "tree";
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function damaged(type: GitObjectType): GitFault {
  return new GitFault("protocol", `an object of the repository is not a ${type} though it says so`);
}

/** The first line of a commit's message, at most 50 characters of it (reference 2.8). */
export function subjectOf({ message }: GitCommit): string {
  const [line = ""] = message.split("\n", 1);
  // Safe before it is cut: half a token is not known to be one.
  const subject = safeText(line.replace(/\r$/, "").slice(0, readSubjectUnits));
  // A letter has one or two units of a string.
  const letters = Array.from(subject.slice(0, 102));
  return letters.length > 50 ? `${letters.slice(0, 50).join("")}...` : subject;
}
