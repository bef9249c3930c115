import { isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from "yaml";
import { messageOf } from "../core/api-object.ts";
import { formatJson, isJsonObject, type Json, parseJson, toJson } from "../core/json.ts";
import { goJsonProblem } from "./go-json-problem.ts";

/** How deep a document may nest: recursion below would end a deeper one with a stack overflow. */
export const maxDepth = 1_000;

/** What a document may be with its aliases followed: far more than a body without any. */
export const maxExpandedBytes = 16 * 1024 * 1024;

/** What a value takes besides its text. */
const bytesPerNode = 8;

/** A document as it came, and as the JSON text that strict decoding reads. */
export interface ParsedBody {
  readonly value: Json;
  readonly json: string;
  /** Each key that YAML gives twice, as `line 7: key "a" already set in map`. */
  readonly repeated: readonly string[];
}

/** What Go's strict decoder says of keys that YAML gives twice. */
export function repeatedKeys(repeated: readonly string[]): string {
  return ["yaml: unmarshal errors:", ...repeated.map((line) => `  ${line}`)].join("\n");
}

/** @throws {SyntaxError} naming what is wrong, in Go's words */
export function parseJsonBody(text: string): ParsedBody {
  return { value: checked(parsedJson(text)), json: text, repeated: [] };
}

function parsedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new SyntaxError(goJsonProblem(text) ?? messageOf(error), { cause: error });
  }
}

/** YAML, so JSON too. An alias may not blow the document up. */
export function parseYamlBody(text: string): ParsedBody {
  if (text.trimStart().startsWith("{")) {
    try {
      return parseJsonBody(text);
    } catch {
      // Flow style is YAML as well.
    }
  }
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, {
      version: "1.1",
      schema: "yaml-1.1",
      logLevel: "error",
      lineCounter: lines,
      intAsBigInt: true,
    });
    const [problem] = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
    if (problem !== undefined) throw problem;
    const value = asGoReads(checked(document.toJS({ maxAliasCount: 100 }) ?? null));
    const isRepeated = document.errors.length > 0;
    const repeated = isRepeated ? repeatedIn(document.contents, lines) : [];
    return { value, json: formatJson(value), repeated };
  } catch (error) {
    throw new SyntaxError(messageOf(error), { cause: error });
  }
}

/** The reader makes a big integer of every integer; one past 64 bits is a double to Go. */
function asGoReads(value: Json): Json {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) || BigInt.asIntN(64, value) !== value ? Number(value) : value;
  }
  if (Array.isArray(value)) return value.map(asGoReads);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asGoReads(item)]));
}

/** In Go's order: a value is decoded before its key is set, and the line is that of the value. */
function repeatedIn(node: ParsedNode | null, lines: LineCounter): readonly string[] {
  if (isSeq<ParsedNode>(node)) return node.items.flatMap((item) => repeatedIn(item, lines));
  if (!isMap<ParsedNode, ParsedNode | null>(node)) return [];
  const seen = new Set<unknown>();
  return node.items.flatMap(({ key, value }) => {
    const inner = repeatedIn(value, lines);
    const name = isScalar(key) ? key.value : undefined;
    if (name === undefined || !seen.has(name)) {
      seen.add(name);
      return inner;
    }
    const { line } = lines.linePos((value ?? key).range[0]);
    return [...inner, `line ${line}: key ${JSON.stringify(name)} already set in map`];
  });
}

/** Looked at before anything is copied: what aliases share counts wherever they stand. */
function checked(value: unknown): Json {
  let bytes = 0;
  const look = (part: unknown, depth: number): void => {
    if (depth > maxDepth) throw new SyntaxError("exceeded max depth");
    bytes += bytesPerNode + (typeof part === "string" ? part.length : 0);
    if (bytes > maxExpandedBytes) throw new SyntaxError("yaml: document contains excessive aliasing");
    if (typeof part !== "object" || part === null) return;
    for (const item of Object.values(part)) look(item, depth + 1);
  };
  look(value, 0);
  return toJson(value);
}
