import { isPausedBy, type KindDeclaration, readyConditionOf } from "../../lib/api/kinds/declaration.ts";
import { isJsonObject, type JsonObject } from "../../lib/core/json.ts";
import type { LiveObject } from "../../lib/core/manifest.ts";

/** What progress lines call an object of a kind: `source oci`, `alert provider`. */
export function nameOf({ isSource, words }: KindDeclaration): string {
  if (words.called !== undefined) return words.called;
  const parent = isSource ? "source" : words.parent;
  const one = words.one.replaceAll("-", " ");
  return parent === undefined ? one : `${parent} ${one}`;
}

/** The revision that an object is at, empty if there is none. */
export function revisionOf({ words }: Pick<KindDeclaration, "words">, object: LiveObject): string {
  const revision = textAt(object, ...words.revision);
  return revision === "" ? textAt(object, ...(words.revisionElse ?? [])) : revision;
}

/** The value at this path of an object, in which a number is a place in a list; undefined if a part of the path is missing. */
export function valueAt(object: LiveObject | JsonObject, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((part, key) => {
    if (Array.isArray(part)) return part[Number(key)];
    return isJsonObject(part) ? part[key] : undefined;
  }, object);
}

/** The text at this path of an object; empty if there is none. */
export function textAt(object: LiveObject | JsonObject, ...path: readonly string[]): string {
  const value = valueAt(object, ...path);
  return typeof value === "string" ? value : "";
}

/** What is at this path of an object, for people: a text as it is, anything else as JSON; empty if there is nothing. */
export function shownAt(object: LiveObject | JsonObject, ...path: readonly string[]): string {
  const value = valueAt(object, ...path) ?? "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The number at this path of an object, as text; 0 if there is none. */
export function countAt(object: LiveObject | JsonObject, ...path: readonly string[]): string {
  const value = valueAt(object, ...path);
  return typeof value === "number" ? String(value) : "0";
}

export function isSuspended({ pausedBy }: Pick<KindDeclaration, "pausedBy">, object: LiveObject): boolean {
  if (pausedBy === undefined) return valueAt(object, "spec", "suspend") === true;
  return isPausedBy(pausedBy, object.metadata.annotations);
}

/** The merge patch that suspends an object, or resumes it. */
export function suspendPatch({ pausedBy }: Pick<KindDeclaration, "pausedBy">, suspend: boolean): JsonObject {
  if (pausedBy === undefined) return { spec: { suspend } };
  return { metadata: { annotations: { [pausedBy.annotation]: suspend ? pausedBy.value : null } } };
}

/** Whether the object is ready and what is said of it; undefined before its first run. An object that is never reconciled is always ready. */
export function readinessOf(
  kind: KindDeclaration,
  object: LiveObject,
): Pick<ConditionText, "message" | "status"> | undefined {
  if (kind.isStatic?.(object["spec"]) !== true) return conditionOf(object, readyConditionOf(kind));
  return { status: "True", message: kind.staticMessage ?? "" };
}

export interface ConditionText {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: unknown;
}

/** A condition, read without judging the rest of the status. */
export function conditionOf(object: LiveObject, type: string): ConditionText | undefined {
  const conditions = valueAt(object, "status", "conditions");
  const found = Array.isArray(conditions)
    ? conditions.filter(isJsonObject).find((each) => each["type"] === type)
    : undefined;
  if (found === undefined) return undefined;
  return {
    status: textAt(found, "status"),
    reason: textAt(found, "reason"),
    message: textAt(found, "message"),
    observedGeneration: found["observedGeneration"],
  };
}
