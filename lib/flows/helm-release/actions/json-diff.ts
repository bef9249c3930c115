import { equal, formatJson, isJsonList, isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

/** One operation of a JSON patch (RFC 6902). */
export type JsonOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Json }
  | { readonly op: "remove"; readonly path: string };

/**
 * The operations that make `from` equal to `to`, as Flux's library has them (github.com/wI2L/jsondiff, with `Rationalize`): lists are
 * compared place by place, and where one replacement is shorter than all operations below it, it takes their place. Pure.
 */
export function jsonDiff(from: Json, to: Json, path = ""): readonly JsonOperation[] {
  if (equal(from, to)) return [];
  const below = isJsonObject(from) && isJsonObject(to) ? objectDiff(from, to, path) : undefined;
  const operations = below ?? (isJsonList(from) && isJsonList(to) ? listDiff(from, to, path) : undefined);
  const whole = { op: "replace", path, value: to } as const;
  if (operations === undefined) return [whole];
  return lengthOf(operations) > lengthOf([whole]) ? [whole] : operations;
}

function objectDiff(from: JsonObject, to: JsonObject, path: string): readonly JsonOperation[] {
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted(byBytes);
  return keys.flatMap((key): readonly JsonOperation[] => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const [before, after] = [from[key], to[key]];
    if (after === undefined) return [{ op: "remove", path: at }];
    if (before === undefined) return [{ op: "add", path: at, value: after }];
    return jsonDiff(before, after, at);
  });
}

function listDiff(from: readonly Json[], to: readonly Json[], path: string): readonly JsonOperation[] {
  const common = Math.min(from.length, to.length);
  const removed = from.slice(common).map((): JsonOperation => ({ op: "remove", path: `${path}/${common}` }));
  const changed = to.slice(0, common).flatMap((after, place) => {
    const before = from[place];
    return before === undefined ? [] : jsonDiff(before, after, `${path}/${place}`);
  });
  const added = to.slice(common).map((value): JsonOperation => ({ op: "add", path: `${path}/-`, value }));
  return [...removed, ...changed, ...added];
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

const baseLength = '{"op":"","path":""}'.length;
const valueLength = ',"value":'.length;

/** As the library counts it: the value of an addition has no length. */
function lengthOf(operations: readonly JsonOperation[]): number {
  const each = operations.map((operation) => {
    const value = operation.op === "remove" ? 0 : valueLength;
    const text = operation.op === "replace" ? Buffer.byteLength(formatJson(operation.value)) : 0;
    return baseLength + operation.op.length + Buffer.byteLength(operation.path) + value + text;
  });
  return each.reduce((sum, length) => sum + length, Math.max(operations.length - 1, 0));
}
