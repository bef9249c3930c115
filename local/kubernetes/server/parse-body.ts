import { parse } from "yaml";
import { messageOf } from "../../../lib/core/failure.ts";
import { type Json, toJson } from "../../../lib/core/json.ts";
import { goJsonProblem } from "./go-json-problem.ts";

/** How deep a document may nest: recursion below would end a deeper one with a stack overflow. */
const maxDepth = 1000;

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

function checked(value: unknown): Json {
  if (depthOf(value, 0) > maxDepth) throw new SyntaxError("exceeded max depth");
  return toJson(value);
}

function depthOf(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null || depth > maxDepth) return depth;
  let deepest = depth;
  for (const item of Object.values(value)) {
    deepest = Math.max(deepest, depthOf(item, depth + 1));
    if (deepest > maxDepth) break;
  }
  return deepest;
}
