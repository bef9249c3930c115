import type { TimeSlices } from "../../../core/concurrency.ts";
import { GitSignatureFault } from "./git-signature-fault.ts";
import { parsePublicKey, type SshPublicKey } from "./ssh-public-key.ts";

/** The limit for one line: RSA's longest key takes 1,500 characters, its options and comment seldom as many. */
const maxLine = 16 * 1024;
const maxKeys = 5000;

/**
 * The keys of a file in the format of authorized_keys (sshd(8)): `[options] type base64 [comment]` in each line, besides empty lines
 * and comments. The options are not looked at, so a line of allowed_signers, which has the signer's name in their place, is read as
 * well. One line that is not a key makes the whole file unreadable, as in Flux: it is a mistake that the user should see.
 * @throws {GitSignatureFault}
 */
export async function parseAuthorizedKeys(file: string, slices: TimeSlices): Promise<readonly SshPublicKey[]> {
  const keys: SshPublicKey[] = [];
  for (const [index, raw] of file.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    if (line.length > maxLine) throw unreadable(`line ${index + 1} has more than ${maxLine} characters`);
    if (keys.length === maxKeys) throw unreadable(`there are more than ${maxKeys} keys`);
    keys.push(parseLine(line));
    if (slices.isOver()) await slices.pause();
  }
  return keys;
}

/** The base64 stands in the second field, or in the third after a field of options, which may hold spaces in quotes. */
function parseLine(line: string): SshPublicKey {
  let fault: unknown;
  for (const at of [afterField(line, 0), afterField(line, afterOptions(line))]) {
    const encoded = line.slice(at).split(/[ \t]/, 1)[0] ?? "";
    if (encoded === "") continue;
    try {
      return parsePublicKey(decodeBase64(encoded));
    } catch (error) {
      fault = error;
    }
  }
  if (!(fault instanceof GitSignatureFault)) throw unreadable("ssh: no key found");
  throw unreadable(`ssh: no key found; last parsing error for ignored line: ${fault.message}`);
}

function unreadable(why: string): GitSignatureFault {
  return new GitSignatureFault(`unable to parse authorized key: ${why}`);
}

/** Where the field after the one at `from` begins. */
function afterField(line: string, from: number): number {
  const field = /^[^ \t]*[ \t]*/.exec(line.slice(from));
  return from + (field?.[0].length ?? 0);
}

function afterOptions(line: string): number {
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    const isSpace = line[at] === " " || line[at] === "\t";
    if (isSpace && !isQuoted) return afterField(line, at);
    if (line[at] === '"' && line[at - 1] !== "\\") isQuoted = !isQuoted;
  }
  return line.length;
}

/** Node skips what is no base64; a key with other characters in it is no key. */
function decodeBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") === text) return bytes;
  throw new GitSignatureFault("illegal base64 data");
}
