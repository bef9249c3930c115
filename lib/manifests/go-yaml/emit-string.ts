import { oddCharacter, staysString } from "./scalar.ts";

/** Where a scalar is written: go-yaml folds it depending on the indent of the block and the column that it starts in. */
interface Place {
  readonly indent: number;
  readonly column: number;
  readonly isKey: boolean;
}

const widthBeforeFold = 80;
/**
 * Characters of one string; an object with a longer one does not fit into etcd. A longer string is left to kustomize: a single
 * allocation far above the heap limit of a thread ends the whole process, in spite of the limit.
 */
export const maxStringChars = 2 * 1024 * 1024;
/** go-yaml writes longer keys with a question mark. They do not occur in practice. */
const maxKeyBytes = 128;

/** Characters that the emitter escapes: tabs and everything outside the basic plane. */
const notPrintable = /[\t\ud800-\udfff]/;
/** One string as go-yaml v2's emitter writes it; undefined if only go-yaml can tell. */
export function renderScalar(text: string, place: Place): string | undefined {
  if (text.length > maxStringChars || oddCharacter.test(text)) return undefined;
  if (place.isKey && (text.includes("\n") || Buffer.byteLength(text) > maxKeyBytes)) return undefined;
  const bare = staysString(text);
  if (bare === undefined) return undefined;
  const shape = analyse(text);
  if (text.includes("\n")) return shape.block ? literal(text, place) : doubleQuoted(text, place);
  if (!bare) return doubleQuoted(text, place);
  if (shape.plain) return folded(text, place, "plain");
  return shape.single ? `'${folded(text, place, "single")}'` : doubleQuoted(text, place);
}

/** Which styles libyaml's `analyze_scalar` allows for a text outside flow collections. */
function analyse(text: string): { plain: boolean; single: boolean; block: boolean } {
  if (text === "") return { plain: true, single: true, block: false };
  const special = notPrintable.test(text) || text.includes(" \n");
  const breakSpace = text.includes("\n ");
  const edge = /^[ \n]|[ \n]$/.test(text);
  const plain = !special && !breakSpace && !edge && !text.includes("\n") && !hasBlockIndicator(text);
  return { plain, single: !special && !breakSpace, block: !special && !text.endsWith(" ") };
}

function hasBlockIndicator(text: string): boolean {
  return (
    text.startsWith("---") ||
    text.startsWith("...") ||
    /^[#,[\]{}&*!|>'"%@`]/.test(text) ||
    /^[-?]( |$)/.test(text) ||
    /:( |$)/.test(text) ||
    text.includes(" #")
  );
}

/** Plain and single-quoted text, broken at a single space once a line exceeds the width. */
function folded(text: string, { indent, column, isKey }: Place, style: "plain" | "single"): string {
  const content = style === "single" ? text.replaceAll("'", "''") : text;
  let position = column + (style === "single" ? 1 : 0);
  if (isKey || position + content.length <= widthBeforeFold) return content;
  const characters = Array.from(text);
  const out: string[] = [];
  let afterSpace = false;
  for (const [index, character] of characters.entries()) {
    if (character === " ") {
      const inside = style === "plain" || (index > 0 && index < characters.length - 1);
      if (!afterSpace && position > widthBeforeFold && inside && characters[index + 1] !== " ") {
        out.push(`\n${" ".repeat(indent + 2)}`);
        position = indent + 2;
      } else {
        out.push(character);
        position++;
      }
      afterSpace = true;
      continue;
    }
    const written = style === "single" && character === "'" ? "''" : character;
    out.push(written);
    position += written.length > 1 ? Array.from(written).length : 1;
    afterSpace = false;
  }
  return out.join("");
}

function doubleQuoted(text: string, { indent, column, isKey }: Place): string {
  const characters = Array.from(text);
  const out: string[] = ['"'];
  let position = column + 1;
  let afterSpace = false;
  for (const [index, character] of characters.entries()) {
    if (character === " ") {
      const inside = index > 0 && index < characters.length - 1;
      if (!isKey && !afterSpace && position > widthBeforeFold && inside) {
        const hint = characters[index + 1] === " " ? "\\" : "";
        out.push(`\n${" ".repeat(indent + 2)}${hint}`);
        position = indent + 2 + hint.length;
      } else {
        out.push(character);
        position++;
      }
      afterSpace = true;
      continue;
    }
    const written = escaped(character);
    out.push(written);
    position += written === character ? 1 : written.length;
    afterSpace = false;
  }
  out.push('"');
  return out.join("");
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ['"', '\\"'],
  ["\\", "\\\\"],
]);

/** Apart from the short escapes only characters outside the basic plane are escaped: a text with any other was left to go-yaml. */
function escaped(character: string): string {
  const short = shortEscapes.get(character);
  if (short !== undefined || !notPrintable.test(character)) return short ?? character;
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(8, "0")}`;
}

function literal(text: string, { indent }: Place): string {
  const margin = " ".repeat(indent + 2);
  const hint = /^[ \n]/.test(text) ? "2" : "";
  const chomp = !text.endsWith("\n") ? "-" : text === "\n" || text.endsWith("\n\n") ? "+" : "";
  const body = text.replace(/\n$/, "").split("\n");
  return `|${hint}${chomp}\n${body.map((line) => (line === "" ? "\n" : `${margin}${line}\n`)).join("")}`;
}
