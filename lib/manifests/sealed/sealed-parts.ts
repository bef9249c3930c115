import { textOf } from "./quoted-mac.ts";

const ciphertext = String.raw`ENC\[AES256_GCM,data:[A-Za-z0-9+/=]+,iv:[A-Za-z0-9+/=]+,tag:[A-Za-z0-9+/=]+,type:str\]`;
const ciphertexts = new RegExp(ciphertext, "g");
const macEntries = new RegExp(String.raw`\bmac["']?\s{0,64}:\s{0,64}["']?(${ciphertext})`, "g");

/** What is searched for in a file of the artifact. */
export interface SealedSearch {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly macs: ReadonlySet<string>;
}

/** A file of the artifact, or those documents of it that have one MAC. */
export interface SealedPart {
  readonly path: string;
  readonly format: "yaml" | "json";
  readonly bytes: Uint8Array;
  /** The one that it is found by. */
  readonly mac: string;
}

/** The parts of one file that hold these MACs. Pure. */
export function sealedParts({ path, bytes, macs }: SealedSearch): readonly SealedPart[] {
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
