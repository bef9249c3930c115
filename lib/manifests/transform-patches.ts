import type { Patch } from "../api/patch.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { Unacceptable, Undecided } from "./read-failure.ts";
import { asSourceObject, readPatchTexts, type SourceObject } from "./read-objects.ts";

/**
 * kustomize's patch transformer, for patches of which the result is certain: JSON 6902 patches that add, replace and remove,
 * and merge patches of mappings and scalars. Throws {@link Undecided} for everything else, also for what kustomize refuses.
 */
export function transformPatches(objects: readonly SourceObject[], patches: readonly Patch[]): readonly SourceObject[] {
  return patches.reduce(patchAll, objects);
}

function patchAll(objects: readonly SourceObject[], { patch: text, target }: Patch): readonly SourceObject[] {
  const patch = onlyDocument(text);
  if (isJsonList(patch)) {
    if (target === undefined) throw new Undecided("a JSON patch without a target");
    const selects = selector(target);
    const operations = patch.map(readOperation);
    return objects.map((object) => (selects(object) ? patchByOperations(object, operations) : object));
  }
  const named = asSourceObject(patch);
  const content = mergeContent(named);
  const isMeant = target === undefined ? namedBy(named, objects) : selector(target);
  return objects.map((object) => (isMeant(object) ? checked(merge(object, content), object) : object));
}

function onlyDocument(text: string): Json {
  const [patch, ...more] = readPatch(text);
  if (patch === undefined || more.length > 0) throw new Undecided("a patch of no or of several documents");
  if (hasMergeKey(patch)) throw new Undecided("a patch with the text <<");
  return patch;
}

/** kustomize prints this text of a patch without the quotes that it prints of a file's. */
function hasMergeKey(value: Json): boolean {
  if (value === null || typeof value !== "object") return value === "<<";
  if (isJsonList(value)) return value.some(hasMergeKey);
  return Object.entries(value).some(([key, item]) => key === "<<" || hasMergeKey(item));
}

/** What no builder should read in a file is refused with its place; kustomize says more about a patch than we could. */
function readPatch(text: string): readonly Json[] {
  try {
    return readPatchTexts(text);
  } catch (error) {
    throw error instanceof Unacceptable ? new Undecided(error.message, { cause: error }) : error;
  }
}

type Selects = (object: SourceObject) => boolean;

/** Names and kinds are regular expressions, which most of them are not meant to be. */
function selector(target: NonNullable<Patch["target"]>): Selects {
  const { group = "", version = "", kind = "", name = "" } = target;
  if (["namespace", "labelSelector", "annotationSelector"].some((field) => Object.hasOwn(target, field))) {
    throw new Undecided("a target by namespace, labels or annotations");
  }
  const texts = [group, version, kind, name];
  if (texts.some((text) => !/^[A-Za-z0-9.-]*$/.test(text))) throw new Undecided("a target by a pattern");
  const [ofGroup, ofVersion, ofKind, ofName] = texts.map((text) => new RegExp(text === "" ? "" : `^(?:${text})$`));
  return ({ apiVersion, kind: itsKind, metadata }) => {
    const [itsVersion = "", itsGroup = ""] = apiVersion.split("/").toReversed();
    return (
      ofGroup?.test(itsGroup) === true &&
      ofVersion?.test(itsVersion) === true &&
      ofKind?.test(itsKind) === true &&
      ofName?.test(metadata.name) === true
    );
  };
}

/** A merge patch without a target names its object itself. */
function namedBy({ apiVersion, kind, metadata }: SourceObject, objects: readonly SourceObject[]): Selects {
  const isNamed: Selects = (object) =>
    object.apiVersion === apiVersion &&
    object.kind === kind &&
    object.metadata.name === metadata.name &&
    object.metadata.namespace === metadata.namespace;
  if (objects.filter(isNamed).length !== 1) throw new Undecided("a patch that names no object, or several");
  return isNamed;
}

/** The fields that a merge patch changes: all but those that name its object. */
function mergeContent({ apiVersion: _apiVersion, kind: _kind, metadata, ...content }: SourceObject): JsonObject {
  const { name: _name, namespace: _namespace, ...texts } = metadata;
  if (Object.keys(texts).some((field) => field !== "labels" && field !== "annotations")) {
    throw new Undecided("a patch of other metadata than labels and annotations");
  }
  if (!isPlain(content) || !isPlain(texts)) throw new Undecided("a patch with a list, a null or something empty");
  return Object.keys(texts).length === 0 ? content : { ...content, metadata: texts };
}

/** Only mappings with something in them, and scalars: no list, null or directive, for which kustomize has rules of its own. */
function isPlain(value: Json): boolean {
  if (value === null || isJsonList(value)) return false;
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(
    ([key, item]) => !key.startsWith("$") && isPlain(item) && !(isJsonObject(item) && Object.keys(item).length === 0),
  );
}

function merge<Item extends JsonObject>(object: Item, patch: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...object };
  for (const [key, change] of Object.entries(patch)) {
    const value = object[key];
    if (isJsonObject(change)) {
      if (value !== undefined && !isJsonObject(value)) throw new Undecided("a patch that changes the type of a field");
      merged[key] = value === undefined ? change : merge(value, change);
    } else {
      // kustomize keeps the quotes of what was there, so a number in the place of a text is a text.
      if (value !== undefined && typeof value !== typeof change) {
        throw new Undecided("a patch that changes the type of a field");
      }
      merged[key] = change;
    }
  }
  return merged;
}

/** kustomize drops nulls and empty mappings on the way of a merge; a patched object has neither. */
function checked(patched: JsonObject, before: SourceObject): SourceObject {
  if (hasNothing(before)) throw new Undecided("a patched object with a null or something empty");
  const { apiVersion, kind, metadata } = before;
  const object = asSourceObject(patched);
  const isSame = object.apiVersion === apiVersion && object.kind === kind && object.metadata.name === metadata.name;
  if (!isSame || object.metadata.namespace !== metadata.namespace)
    throw new Undecided("a patch that renames an object");
  return object;
}

function hasNothing(value: Json): boolean {
  if (value === null) return true;
  if (typeof value !== "object") return false;
  const items = Object.values(value);
  return items.length === 0 || items.some(hasNothing);
}

interface Operation {
  readonly op: "add" | "replace" | "remove";
  readonly path: readonly string[];
  readonly value: Json;
}

function readOperation(operation: Json): Operation {
  if (!isJsonObject(operation)) throw new Undecided("an operation that is not a mapping");
  const { op, path, value } = operation;
  if (op !== "add" && op !== "replace" && op !== "remove")
    throw new Undecided("another operation than add, replace and remove");
  if (typeof path !== "string" || !/^(\/[^/~]+|\/[^/]*~1[^/~]*)+$/.test(path)) throw new Undecided("an odd path");
  if (value === null || (value === undefined) !== (op === "remove"))
    throw new Undecided("an operation without a value, or a remove with one");
  const names = path
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/"));
  const [top, field, ...rest] = names;
  const isText = (field === "labels" || field === "annotations") && rest.length === 1 && op !== "remove";
  if (top === "apiVersion" || top === "kind" || (top === "metadata" && !isText)) {
    throw new Undecided("a patch of other metadata than labels and annotations");
  }
  return { op, path: names, value: value ?? null };
}

function patchByOperations(object: SourceObject, operations: readonly Operation[]): SourceObject {
  const patched = operations.reduce<Json>(
    (value, { op, path, value: given }) => changed(value, path, op, given),
    object,
  );
  if (!isJsonObject(patched)) throw new Undecided("a patch of everything");
  const { apiVersion, kind, metadata } = object;
  return asSourceObject({ ...patched, apiVersion, kind, metadata: patched["metadata"] ?? metadata });
}

function changed(value: Json, path: readonly string[], op: Operation["op"], given: Json): Json {
  const [name = "", ...rest] = path;
  if (isJsonList(value)) return changedList(value, path, op, given);
  if (!isJsonObject(value)) throw new Undecided("a path through a scalar");
  const inner = value[name];
  if (rest.length > 0) {
    if (inner === undefined) throw new Undecided("a path to nothing");
    return { ...value, [name]: changed(inner, rest, op, given) };
  }
  if (op !== "remove" && inner !== undefined) return { ...value, [name]: alike(given, inner) };
  if (op === "add") return { ...value, [name]: given };
  if (inner === undefined || op === "replace") throw new Undecided("a path to nothing");
  const { [name]: _removed, ...others } = value;
  return others;
}

function changedList(
  list: readonly Json[],
  [name = "", ...rest]: readonly string[],
  op: Operation["op"],
  given: Json,
): Json {
  if (name === "-" && rest.length === 0 && op === "add") return [...list, alike(given, list.at(-1))];
  if (!/^(0|[1-9][0-9]{0,5})$/.test(name)) throw new Undecided("an odd index");
  const at = Number(name);
  const item = list[at];
  if (rest.length === 0 && op === "add" && at <= list.length) return list.toSpliced(at, 0, alike(given, list[0]));
  if (item === undefined) throw new Undecided("a path to nothing");
  if (rest.length > 0) return list.with(at, changed(item, rest, op, given));
  return op === "replace" ? list.with(at, alike(given, item)) : list.toSpliced(at, 1);
}

/** A value of the same shape as that in its place or beside it: kustomize looks for references in it, and refuses another. */
function alike(value: Json, other: Json | undefined): Json {
  const shape = (one: Json): string => (isJsonList(one) ? "list" : isJsonObject(one) ? "mapping" : "scalar");
  if (other !== undefined && shape(value) !== shape(other))
    throw new Undecided("a patch that changes the type of a field");
  return value;
}
