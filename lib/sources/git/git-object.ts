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

/** What a commit says. Its signature, and what that is of, are cut out of its bytes by `verify/signed-object.ts`. */
export interface GitCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** When it was committed, in seconds since 1970. */
  readonly committedAt: number;
  readonly message: string;
}

/** What an annotated tag says. */
export interface GitTag {
  readonly name: string;
  readonly object: string;
  readonly type: GitObjectType;
}

export function isOid(text: string): boolean {
  return oidPattern.test(text);
}

/** Throws a {@link GitFault} `protocol` if the bytes are not those of a commit. */
export function parseCommit(bytes: Uint8Array): GitCommit {
  const { headers, message } = parseHeaders(bytes);
  const only = (name: string): string => headers.find(([header]) => header === name)?.[1] ?? "";
  const tree = only("tree");
  const parents = headers.flatMap(([name, value]) => (name === "parent" ? [value] : []));
  const [, seconds] = /> (-?\d{1,15}) [+-]\d+$/.exec(only("committer")) ?? [];
  if (![tree, ...parents].every(isOid) || seconds === undefined) throw damaged("commit");
  return { tree, parents, committedAt: Number(seconds), message };
}

/** Throws a {@link GitFault} `protocol` if the bytes are not those of an annotated tag. */
export function parseTag(bytes: Uint8Array): GitTag {
  const { headers } = parseHeaders(bytes);
  const { object = "", type = "", tag: name } = Object.fromEntries(headers.toReversed());
  if (!isOid(object) || !isObjectType(type) || name === undefined) throw damaged("tag");
  return { name, object, type };
}

interface Parsed {
  /** Of a header of several lines the first. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly message: string;
}

const [lineFeed, space] = [0x0a, 0x20];

/** Headers go to the first empty line; a line that begins with a space goes on with the header before it. */
function parseHeaders(bytes: Uint8Array): Parsed {
  const headers: [string, string][] = [];
  let at = 0;
  while (at < bytes.length && bytes[at] !== lineFeed) {
    const found = bytes.indexOf(lineFeed, at);
    const end = found === -1 ? bytes.length : found + 1;
    const line = bytes.subarray(at, end);
    at = end;
    if (line[0] === space) continue;
    const [, name = "", value = ""] = /^(\S+) ([^\n]*)/.exec(textOf(line)) ?? [];
    headers.push([name, value]);
  }
  return { headers, message: textOf(bytes.subarray(Math.min(at + 1, bytes.length))) };
}

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
  // Safe before it is cut: of half a token nobody can tell that it is one.
  const [line = ""] = message.split("\n", 1);
  const subject = safeText(line.replace(/\r$/, ""));
  const letters = Array.from(subject);
  return letters.length > 50 ? `${letters.slice(0, 50).join("")}...` : subject;
}
