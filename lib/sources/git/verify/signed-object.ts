import { assertSmall } from "../git-object.ts";
import { GitSignatureFault } from "./git-signature-fault.ts";

/** A commit or tag of git, divided into what was signed and the signature of it. */
export interface SignedObject {
  readonly type: "commit" | "tag";
  /** The bytes of the signature. */
  readonly payload: Uint8Array;
  /** In armor; empty if the object is not signed. */
  readonly signature: string;
}

/**
 * Divides a commit: its signature is the value of the header `gpgsig`, and the payload is the commit without this header.
 * Every other header stays in the payload, known or not. A message that looks like a header is no header.
 * @throws {GitSignatureFault} if there is more than one signature: git refuses such a commit, too
 * @throws {GitFault} `too-large`
 */
export function signedCommit(bytes: Uint8Array): SignedObject {
  assertSmall(bytes, "commit");
  const { payload, values } = withoutSignatures(bytes);
  const signatures = values.filter(({ name }) => name === "gpgsig").map(({ value }) => value);
  if (signatures.length > 1) {
    throw new GitSignatureFault(`the commit has ${signatures.length} gpgsig headers, but only one can be verified`);
  }
  return { type: "commit", payload, signature: signatures[0] ?? "" };
}

/**
 * Divides a tag: its signature is what follows the last line that begins an armor, and the payload is all before it
 * (git, gpg-interface.c, parse_signed_buffer). A signature in the header is of the same tag in a repository of SHA-256.
 * @throws {GitFault} `too-large`
 */
export function signedTag(bytes: Uint8Array): SignedObject {
  assertSmall(bytes, "tag");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = lastArmorBegin(buffer) ?? buffer.length;
  const { payload } = withoutSignatures(buffer.subarray(0, begin));
  return { type: "tag", payload, signature: buffer.subarray(begin).toString("latin1") };
}

/** The first lines of the armors in which git finds a signature. */
export const armors = {
  openpgp: "-----BEGIN PGP SIGNATURE-----",
  ssh: "-----BEGIN SSH SIGNATURE-----",
  x509: "-----BEGIN SIGNED MESSAGE-----",
} as const;

/** An inline signed message, which git also takes for the begin of a tag's signature, and which no one verifies. */
const beginnings = [...Object.values(armors), "-----BEGIN PGP MESSAGE-----"];

/** Where the last line begins that begins an armor. */
function lastArmorBegin(buffer: Buffer): number | undefined {
  const begins = beginnings.map((line) => {
    const found = buffer.lastIndexOf(`\n${line}`);
    if (found !== -1) return found + 1;
    return buffer.toString("latin1", 0, line.length) === line ? 0 : -1;
  });
  const last = Math.max(...begins);
  return last === -1 ? undefined : last;
}

/** The headers that hold signatures. */
const names = ["gpgsig", "gpgsig-sha256"] as const;
/** Every such line is checked: a commit may have half a million lines that are not this header. */
const initial = "g";

/** Removes the headers of signatures: their lines, and the lines that go on with a space. Nothing after the first empty line. */
function withoutSignatures(bytes: Uint8Array): { payload: Buffer; values: readonly { name: string; value: string }[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("latin1");
  const kept: Buffer[] = [];
  const values: { name: string; value: string }[] = [];
  let keptFrom = 0;
  let isRemoving = false;
  for (let start = 0, end = 0; start < text.length && text[start] !== "\n"; start = end) {
    const feed = text.indexOf("\n", start);
    end = feed === -1 ? text.length : feed + 1;
    const last = values.at(-1);
    if (isRemoving && text[start] === " " && last !== undefined) {
      last.value += text.slice(start + 1, end);
      keptFrom = end;
      continue;
    }
    const name = text[start] === initial ? names.find((one) => text.startsWith(`${one} `, start)) : undefined;
    isRemoving = name !== undefined;
    if (name === undefined) continue;
    if (keptFrom < start) kept.push(buffer.subarray(keptFrom, start));
    values.push({ name, value: text.slice(start + name.length + 1, end) });
    keptFrom = end;
  }
  return { payload: Buffer.concat([...kept, buffer.subarray(keptFrom)]), values };
}
