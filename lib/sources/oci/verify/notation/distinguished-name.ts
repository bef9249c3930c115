import { cutText } from "../../../../core/cut-text.ts";
import { SignatureFault } from "../signature-fault.ts";

/** The limit for a subject in a trust policy or a certificate. */
export const maxDistinguishedNameLength = 4_096;
const maxQuotedBytes = 200;
const mandatory = ["C", "ST", "O"];

/** The attributes of a name by their types: `C`, `ST`, `O`, `CN` and so on. */
export type DistinguishedName = ReadonlyMap<string, string>;

/**
 * Reads a name in the notation of RFC 4514, with the restrictions of Notation: each attribute once, and none of several values. `S` stands
 * for `ST`. Throws a {@link SignatureFault}.
 */
export function parseDistinguishedName(text: string): DistinguishedName {
  const named = `distinguished name (DN) ${JSON.stringify(cutText(text, maxQuotedBytes))}`;
  if (text.length > maxDistinguishedNameLength) {
    throw new SignatureFault(`${named} has more than ${maxDistinguishedNameLength} characters`);
  }
  if (text.includes("=#")) {
    throw new SignatureFault(`unsupported ${named}: notation does not support x509.subject identities containing "=#"`);
  }
  return attributesOf(partsOf(text, ","), named);
}

/** The subject of a certificate as Node prints it, one attribute a line. Throws a {@link SignatureFault}. */
export function parseSubject(text: string): DistinguishedName {
  const named = `distinguished name (DN) ${JSON.stringify(cutText(text.replaceAll("\n", ","), maxQuotedBytes))}`;
  if (text.length > maxDistinguishedNameLength) {
    throw new SignatureFault(`${named} has more than ${maxDistinguishedNameLength} characters`);
  }
  return attributesOf(text.split("\n"), named);
}

/** Whether every attribute of the first name is in the second. */
export function isWithin(some: DistinguishedName, all: DistinguishedName): boolean {
  return [...some].every(([type, value]) => all.get(type) === value);
}

function attributesOf(parts: readonly string[], named: string): DistinguishedName {
  const found = new Map<string, string>();
  for (const part of parts) {
    if (partsOf(part, "+").length > 1) {
      const mend = "remove multi-valued RDN attributes as they are not supported";
      throw new SignatureFault(`${named} has multi-valued RDN attributes, ${mend}`);
    }
    const [, shown = "", raw = ""] = /^\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    if (shown === "") throw new SignatureFault(`parsing ${named} failed: it does not follow RFC 4514`);
    const type = shown === "S" ? "ST" : shown;
    if (found.has(type)) {
      const why = "DN can only have unique RDN attributes";
      throw new SignatureFault(`${named} has duplicate RDN attribute for ${JSON.stringify(type)}, ${why}`);
    }
    found.set(type, unescaped(raw));
  }
  for (const field of mandatory) {
    if ((found.get(field) ?? "") !== "") continue;
    const why = "it must contain 'C', 'ST' or 'S', and 'O' RDN attributes at a minimum";
    throw new SignatureFault(`${named} has no mandatory RDN attribute for ${JSON.stringify(field)}, ${why}`);
  }
  return found;
}

/** The parts between separators that are neither escaped nor in quotes. */
function partsOf(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let begin = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  parts.push(text.slice(begin));
  return parts;
}

/** Hexadecimal escapes are the bytes of UTF-8. */
function unescaped(text: string): string {
  const bare = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
  return bare.replaceAll(
    /(?:\\[0-9a-fA-F]{2})+|\\(.)/gs,
    (escape: string, character?: string) => character ?? Buffer.from(escape.replaceAll("\\", ""), "hex").toString(),
  );
}
