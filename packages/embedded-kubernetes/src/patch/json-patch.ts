import { type ApiObject, StatusError } from "../core/api-object.ts";
import { equal, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isList } from "../fields/type-shape.ts";

export const maxOperations = 10_000;

/** An operation that cannot be done: no such path, or a test that fails. */
class OperationError extends Error {
  override readonly name = "OperationError";
}

/**
 * RFC 6902 as the API server does it: `replace` of an absent key adds it, and a negative index counts from the end.
 *
 * @throws {StatusError} 400 for what is no patch, 413 for too long a one, 422 for an operation that fails
 */
export function jsonPatch(document: ApiObject, patch: Json): ApiObject {
  if (!isList(patch))
    throw undecodable(`json: cannot unmarshal ${jsonType(patch)} into Go value of type jsonpatch.Patch`);
  if (patch.length > maxOperations) {
    const text = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw new StatusError(413, "RequestEntityTooLarge", text);
  }
  const steps = patch.map((operation) => {
    if (isJsonObject(operation)) return operation;
    throw undecodable(`json: cannot unmarshal ${jsonType(operation)} into Go value of type jsonpatch.Operation`);
  });
  try {
    const result = steps.reduce<Json>(applied, document);
    if (isJsonObject(result)) return result;
    throw new OperationError("the patched document is no object");
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
}

function undecodable(text: string): StatusError {
  return new StatusError(400, "BadRequest", `error decoding patch: ${text}`);
}

function jsonType(value: Json): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return "bool";
  return isList(value) ? "array" : typeof value;
}

function applied(document: Json, operation: JsonObject): Json {
  const { op } = operation;
  const run = typeof op === "string" ? operations.get(op) : undefined;
  if (run === undefined) throw new OperationError("unknown operation");
  return run(document, pathOf(operation, "path"), operation);
}

type Operation = (document: Json, path: readonly string[], operation: JsonObject) => Json;

const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["add", (document, path, { value = null }) => changed(document, path, (parent, key) => add(parent, key, value))],
  ["remove", (document, path) => changed(document, path, remove)],
  [
    "replace",
    (document, path, { value = null }) => changed(document, path, (parent, key) => replace(parent, key, value)),
  ],
  ["move", moved],
  ["copy", copied],
  ["test", tested],
]);

function moved(document: Json, path: readonly string[], operation: JsonObject): Json {
  const from = pathOf(operation, "from");
  const value = valueAt(document, from);
  return changed(changed(document, from, remove), path, (parent, key) => add(parent, key, value));
}

function copied(document: Json, path: readonly string[], operation: JsonObject): Json {
  const value = valueAt(document, pathOf(operation, "from"));
  return changed(document, path, (parent, key) => add(parent, key, value));
}

function tested(document: Json, path: readonly string[], { value = null }: JsonObject): Json {
  if (equal(valueAt(document, path), value)) return document;
  throw new OperationError("test failed");
}

function pathOf(operation: JsonObject, field: "path" | "from"): readonly string[] {
  const pointer = operation[field];
  if (typeof pointer !== "string" || !pointer.startsWith("/")) throw new OperationError(`no ${field}`);
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The document with what holds the last part of the path changed. */
function changed(document: Json, path: readonly string[], change: (parent: Json, key: string) => Json): Json {
  const [key = "", ...rest] = path;
  if (rest.length === 0) return change(document, key);
  const child = childOf(document, key);
  if (child === undefined) throw new OperationError("the path does not exist");
  return replace(document, key, changed(child, rest, change));
}

/** Null for an absent key of an object, which is what the Go library tests and copies there. */
function valueAt(document: Json, path: readonly string[]): Json {
  const parent = path.slice(0, -1).reduce<Json>((node, key) => {
    const child = childOf(node, key);
    if (child === undefined) throw new OperationError("the path does not exist");
    return child;
  }, document);
  const value = childOf(parent, path.at(-1) ?? "");
  if (value === undefined && isList(parent)) throw new OperationError("the index is out of bounds");
  return value ?? null;
}

function childOf(parent: Json, key: string): Json | undefined {
  if (isList(parent)) return parent[indexIn(key, parent.length)];
  return isJsonObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function add(parent: Json, key: string, value: Json): Json {
  if (isList(parent)) return parent.toSpliced(key === "-" ? parent.length : indexIn(key, parent.length + 1), 0, value);
  return withField(parent, key, value);
}

function replace(parent: Json, key: string, value: Json): Json {
  return isList(parent) ? parent.with(indexIn(key, parent.length), value) : withField(parent, key, value);
}

function remove(parent: Json, key: string): Json {
  if (isList(parent)) return parent.toSpliced(indexIn(key, parent.length), 1);
  if (!isJsonObject(parent) || !Object.hasOwn(parent, key)) throw new OperationError("nothing to remove");
  return Object.fromEntries(Object.entries(parent).filter(([field]) => field !== key));
}

function withField(parent: Json, key: string, value: Json): Json {
  if (!isJsonObject(parent)) throw new OperationError("the parent is no object");
  return Object.fromEntries([...Object.entries(parent).filter(([field]) => field !== key), [key, value]]);
}

function indexIn(key: string, length: number): number {
  if (!/^-?\d+$/.test(key)) throw new OperationError("no index");
  const index = Number(key) < 0 ? Number(key) + length : Number(key);
  if (index < 0 || index >= length) throw new OperationError("the index is out of bounds");
  return index;
}
