import { loadAll, YAMLException } from "js-yaml";
import { isJsonObject, type Json, toJson } from "../../core/json.ts";
import type { SopsFormat } from "../../sops/format.ts";

/** A file before and after its decryption. */
export interface OpenedFile {
  readonly encrypted: Uint8Array;
  readonly plain: Uint8Array;
  readonly format: SopsFormat;
}

/**
 * The values that decryption has brought into a file, so that a text about the build can be shown without them: each by itself, and
 * the file as a whole, which a generator may put into one value.
 */
export function valuesOfFile({ encrypted, plain, format }: OpenedFile): readonly string[] {
  const [before, after] = [Buffer.from(encrypted).toString(), Buffer.from(plain).toString()];
  const values = format === "yaml" || format === "json" ? valuesOfDocuments(before, after) : undefined;
  return [after, ...(values ?? valuesOfLines(before, after))]
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

/** Undefined if they cannot be read here. */
function valuesOfDocuments(encrypted: string, plain: string): readonly string[] | undefined {
  try {
    const [before, after] = [documentsIn(encrypted), documentsIn(plain)];
    return decryptedTexts(before, after);
  } catch (error) {
    if (error instanceof YAMLException || error instanceof TypeError) return undefined;
    throw error;
  }
}

function documentsIn(text: string): Json {
  return toJson(loadAll(text));
}

function valuesOfLines(encrypted: string, plain: string): readonly string[] {
  const before = new Set(encrypted.split("\n"));
  const lines = plain.split("\n").filter((line) => !before.has(line));
  return lines.flatMap((line) => [line, line.slice(line.indexOf("=") + 1)]);
}

/** The texts and numbers that decryption has changed in a value. Pure. */
export function decryptedTexts(before: Json | undefined, after: Json): readonly string[] {
  if (before === after) return [];
  if (isJsonObject(after)) {
    const former = isJsonObject(before) ? before : {};
    return Object.entries(after).flatMap(([key, value]) => decryptedTexts(former[key], value));
  }
  if (Array.isArray(after)) {
    const former: readonly Json[] = Array.isArray(before) ? before : [];
    return after.flatMap((value: Json, index) => decryptedTexts(former[index], value));
  }
  if (typeof after === "string") return [after];
  return typeof after === "number" || typeof after === "bigint" ? [after.toString()] : [];
}

/** How much of an expression a message shows, see `substituteObjects`. */
const shownChars = 60;

/** The parts of such values that a message about variables may quote: expressions, and the names in them. Pure. */
export function expressionsIn(values: readonly string[]): readonly string[] {
  return values
    .flatMap((value) => value.match(/\$\{[^}\n]*\}?/g) ?? [])
    .flatMap((expression) => [
      expression,
      expression.slice(0, shownChars),
      ...(expression.match(/[A-Za-z_]\w*/g) ?? []),
    ]);
}
