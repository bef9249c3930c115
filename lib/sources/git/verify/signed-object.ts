import { GitSignatureFault } from "./git-signature-fault.ts";

/** A commit or tag of git, divided into what was signed and the signature of it. */
export interface SignedObject {
  readonly type: "commit" | "tag";
  /** The bytes that the signature is made of. */
  readonly payload: Uint8Array;
  /** In armor; empty if the object is not signed. */
  readonly signature: string;
}

/**
 * Divides a commit: its signature is the value of the header `gpgsig`, and the payload is the commit without this header.
 * Every other header stays in the payload, known or not. A message that looks like a header is no header.
 * @throws {GitSignatureFault} if there is more than one signature: git refuses such a commit, too
 */
export function signedCommit(bytes: Uint8Array): SignedObject {
  const { payload, values } = withoutHeaders(bytes, ["gpgsig", "gpgsig-sha256"]);
  const signatures = values.filter(({ name }) => name === "gpgsig").map(({ value }) => value);
  if (signatures.length > 1) {
    throw new GitSignatureFault(`the commit has ${signatures.length} gpgsig headers, but only one can be verified`);
  }
  return { type: "commit", payload, signature: signatures[0] ?? "" };
}

/**
 * Divides a tag: its signature is what follows the last line that begins an armor, and the payload is all before it
 * (git, gpg-interface.c, parse_signed_buffer). A signature in the header is of the same tag in a repository of SHA-256.
 */
export function signedTag(bytes: Uint8Array): SignedObject {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = lines(buffer).findLast(({ start }) => isArmorBegin(buffer, start))?.start ?? buffer.length;
  const { payload } = withoutHeaders(buffer.subarray(0, begin), ["gpgsig", "gpgsig-sha256"]);
  return { type: "tag", payload, signature: buffer.subarray(begin).toString("latin1") };
}

/** The first lines of the armors in which git finds a signature. */
export const armors = {
  openpgp: "-----BEGIN PGP SIGNATURE-----",
  ssh: "-----BEGIN SSH SIGNATURE-----",
  x509: "-----BEGIN SIGNED MESSAGE-----",
} as const;

/** An inline signed message, which git also takes for the begin of a tag's signature, and which no one verifies. */
const beginnings = [...Object.values(armors), "-----BEGIN PGP MESSAGE-----"].map((line) => Buffer.from(line));

function isArmorBegin(buffer: Buffer, at: number): boolean {
  return beginnings.some((line) => buffer.subarray(at, at + line.length).equals(line));
}

/** Removes headers with these names: their lines, and the lines that go on with a space. Nothing after the first empty line. */
function withoutHeaders(
  bytes: Uint8Array,
  names: readonly string[],
): { payload: Buffer; values: readonly { name: string; value: string }[] } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kept: Buffer[] = [];
  const values: { name: string; value: string }[] = [];
  let removing = false;
  for (const { start, end } of lines(buffer)) {
    const line = buffer.subarray(start, end).toString("latin1");
    if (line === "\n") {
      kept.push(buffer.subarray(start));
      break;
    }
    const name = names.find((one) => line.startsWith(`${one} `));
    const last = values.at(-1);
    if (removing && line.startsWith(" ") && last !== undefined) {
      last.value += line.slice(1);
    } else if (name !== undefined) {
      removing = true;
      values.push({ name, value: line.slice(name.length + 1) });
    } else {
      removing = false;
      kept.push(buffer.subarray(start, end));
    }
  }
  return { payload: Buffer.concat(kept), values };
}

/** Where each line begins and ends; its line feed belongs to it. */
function lines(buffer: Buffer): readonly { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let start = 0; start < buffer.length; ) {
    const feed = buffer.indexOf(0x0a, start);
    const end = feed === -1 ? buffer.length : feed + 1;
    found.push({ start, end });
    start = end;
  }
  return found;
}
