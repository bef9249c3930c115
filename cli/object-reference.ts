import type { JsonObject } from "../lib/core/json.ts";

// References to other objects, as options of `create` name them.

/** The kind as the API spells it, for one in any case of letters. */
export function knownKind(kind: string, kinds: readonly string[], what: string): string {
  const known = kinds.find((each) => each.toLowerCase() === kind.toLowerCase());
  if (known === undefined) throw new Error(`${what} '${kind}' is not supported, must be one of: ${kinds.join(", ")}`);
  return known;
}

/** `KIND/NAME`, or `KIND/NAME.NAMESPACE`: the last dot separates, as in flux. The kind is empty where there is none. */
export function readReference(text: string): {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
} {
  const { kind, rest } = splitKind(text);
  const dot = rest.lastIndexOf(".");
  return dot === -1 ? { kind, name: rest } : { kind, name: rest.slice(0, dot), namespace: rest.slice(dot + 1) };
}

export function splitKind(text: string): { readonly kind: string; readonly rest: string } {
  const [first = "", second, ...more] = text.split("/");
  return second === undefined || more.length > 0 ? { kind: "", rest: text } : { kind: first, rest: second };
}

/** `NAME` or `NAMESPACE/NAME`. */
export function dependencyOf(text: string): JsonObject {
  const { kind: namespace, rest: name } = splitKind(text);
  return namespace === "" ? { name } : { namespace, name };
}
