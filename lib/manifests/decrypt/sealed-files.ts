import type { FileTree } from "../../core/ports/engine.ts";
import type { DataKeys } from "../../sops/data-key.ts";
import { verifyFile } from "../../sops/file/decrypt-file.ts";
import { SopsFault } from "../../sops/sops-fault.ts";
import { faultOfFile } from "./decryption.ts";
import { isKustomization, mayBeRead, onlyQuotes, textOf } from "./quoted-mac.ts";

/** What sops wrote as one file: a file of the artifact, or those documents of it that have one MAC. */
export interface SealedFile {
  readonly path: string;
  readonly format: "yaml" | "json";
  readonly bytes: Uint8Array;
  /** The one that it is found by. */
  readonly mac: string;
  /** Whether kustomize may read it. If not, no object comes from it, and its MAC is a quotation. */
  readonly isRead: boolean;
}

/** The files of an artifact that sops has encrypted as YAML or JSON, by their MAC as it is written there. */
export type SealedFiles = ReadonlyMap<string, readonly SealedFile[]>;

const ciphertext = String.raw`ENC\[AES256_GCM,data:[A-Za-z0-9+/=]+,iv:[A-Za-z0-9+/=]+,tag:[A-Za-z0-9+/=]+,type:str\]`;
const ciphertexts = new RegExp(ciphertext, "g");
const macEntries = new RegExp(String.raw`\bmac["']?\s{0,64}:\s{0,64}["']?(${ciphertext})`, "g");

/**
 * The files whose text holds these MACs, wherever and however it is written there: an object is read by a parser, which may find
 * its MAC under a key or in a form that a search for `mac:` does not. A MAC that the artifact has nowhere is missing from the
 * answer. The whole artifact is searched: kustomize takes resources from files of any name. Pure.
 */
export function sealedFiles({ files }: Pick<FileTree, "files">, macs: ReadonlySet<string>): SealedFiles {
  const found = new Map<string, SealedFile[]>();
  if (macs.size === 0) return found;
  const isReadAt = mayBeRead({ files });
  for (const [path, bytes] of files) {
    for (const part of sealedParts(path, bytes, macs)) {
      const file = { ...part, isRead: isReadAt(path) };
      const list = found.get(file.mac) ?? [];
      list.push(file);
      found.set(file.mac, list);
    }
  }
  return found;
}

function sealedParts(
  path: string,
  bytes: Uint8Array,
  macs: ReadonlySet<string>,
): readonly Omit<SealedFile, "isRead">[] {
  const text = textOf(bytes);
  const wanted = heldIn(text).filter((held) => macs.has(held));
  if (wanted.length === 0) return [];
  const format = text.trimStart().startsWith("{") ? "json" : "yaml";
  const others = Array.from(text.matchAll(macEntries), ([, mac = ""]) => mac);
  if (format === "json" || new Set([...wanted, ...others]).size === 1) {
    return [...new Set(wanted)].map((mac) => ({ path, format, bytes, mac }));
  }
  // Encrypted files that were put together into one: each of them is as sops wrote it.
  const parts = new Map<string, string[]>();
  for (const document of text.split(/(?<=\n)(?=---(?:[ \t\r\n]|$))/)) {
    for (const mac of new Set(heldIn(document))) {
      if (!macs.has(mac)) continue;
      const part = parts.get(mac) ?? [];
      part.push(document);
      parts.set(mac, part);
    }
  }
  return Array.from(parts, ([mac, documents]) => ({ path, format, bytes: Buffer.from(documents.join("")), mac }));
}

/** All texts that sops has encrypted, MACs among them: as they stand, with escapes in quotes, and as `!!binary`. */
function heldIn(text: string): readonly string[] {
  const plain = /\\[xuU/\r\n]/.test(text) ? text.replaceAll(escapes, unescaped) : text;
  const held = plain.match(ciphertexts) ?? [];
  return plain.includes("!") ? [...held, ...heldInBinary(plain)] : held;
}

const escapes = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\/)|\r?\n[ \t]*|[\s\S])/g;

/** Escapes that no MAC has become a space. */
function unescaped(all: string, byte?: string, unit?: string, point?: string, slash?: string): string {
  if (slash !== undefined) return slash;
  const digits = byte ?? unit ?? point;
  if (digits === undefined) return /^\\\r?\n/.test(all) ? "" : " ";
  const code = Number.parseInt(digits, 16);
  return code < 0x80 ? String.fromCharCode(code) : " ";
}

/** 18 bytes, so that what follows does not change it. */
const binaryStart = Buffer.from("ENC[AES256_GCM,dat").toString("base64");
const binaryText = new RegExp(`${binaryStart}[A-Za-z0-9+/]*`, "g");

function heldInBinary(text: string): readonly string[] {
  const found = text.replaceAll(/\s+/g, "").match(binaryText) ?? [];
  return found.flatMap((encoded) => Buffer.from(encoded, "base64").toString("latin1").match(ciphertexts) ?? []);
}

/**
 * Whether the files that hold the MAC of an object are as sops wrote them, all of them. Files that only quote it are passed over: one
 * at least has to be verified. Each MAC is verified once.
 *
 * @returns verifies one MAC. Throws a {@link SopsFault}
 */
export function macVerifier(sealed: SealedFiles, keys: DataKeys, signal: AbortSignal): (mac: string) => Promise<void> {
  const verified = new Map<string, Promise<void>>();
  const verify = async (mac: string): Promise<void> => {
    let proofs = 0;
    for (const file of sealed.get(mac) ?? []) if (await isProof(file, keys, signal)) proofs++;
    if (proofs > 0) return;
    throw new SopsFault(
      "failed to verify sops data integrity: its mac is in no file of the artifact: commit the file as sops wrote it, or set sops-ignore-mac",
    );
  };
  return (mac) => {
    const known = verified.get(mac) ?? verify(mac);
    verified.set(mac, known);
    return known;
  };
}

/** Those of builds that are remembered: their bytes do not change, and no other data key verifies them. */
const verifiedFiles = new WeakSet<SealedFile>();

/** Whether the file is as sops wrote it; false if it only quotes the MAC. Throws a {@link SopsFault} if it is neither. */
async function isProof(file: SealedFile, keys: DataKeys, signal: AbortSignal): Promise<boolean> {
  if (verifiedFiles.has(file)) return true;
  const { path, format, bytes, mac, isRead } = file;
  if (!isRead) return false;
  try {
    const metadata = await verifyFile(bytes, format, keys, signal);
    // A file may be right by its own MAC, and hold an object of another file with that one's.
    if (metadata.mac !== mac) throw new SopsFault("failed to verify sops data integrity: its mac is of another file");
    verifiedFiles.add(file);
    return true;
  } catch (error) {
    if (!(error instanceof SopsFault)) throw error;
    // Looked at last, since nearly every file with a MAC is one of sops.
    if (!isKustomization(path) && onlyQuotes(textOf(bytes), mac)) return false;
    throw new SopsFault(faultOfFile(error.message, path), { cause: error });
  }
}
