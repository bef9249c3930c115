import { parse } from "yaml";
import { messageOf } from "../../../lib/core/failure.ts";
import { type Json, toJson } from "../../../lib/core/json.ts";
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
}

/** @throws {SyntaxError} naming what is wrong, in Go's words */
export function parseJsonBody(text: string): ParsedBody {
  return { value: checked(parsedJson(text)), json: text };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
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
    const value = checked(
      parse(text, { maxAliasCount: 100, version: "1.1", schema: "yaml-1.1", logLevel: "error" }) ?? null,
    );
    return { value, json: JSON.stringify(value) };
  } catch (error) {
    throw new SyntaxError(messageOf(error), { cause: error });
  }
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
