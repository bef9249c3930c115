import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { TypeSchema } from "../../../packages/embedded-kubernetes/src/schema/type-schema.ts";
import type { Random } from "../../unit/queue/simulator/random.ts";
import { pick, weighted } from "./choice.ts";
import { awkwardNumbers, awkwardTexts, generateValue } from "./generate-value.ts";
import { isList, type JsonPath, pathsOf, valueAt, withValueAt } from "./json-paths.ts";

/** Fields that no change touches: an object with another name or kind is another object. */
const fixed = new Set([
  "apiVersion",
  "kind",
  "metadata",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "metadata.resourceVersion",
  "metadata.managedFields",
  "metadata.creationTimestamp",
  "metadata.generation",
]);

type Change = (chance: Random, object: JsonObject, path: JsonPath, schema: TypeSchema | undefined) => Json | undefined;

const changes: readonly (readonly [number, Change])[] = [
  [4, (_, object, path) => withValueAt(object, path, undefined)],
  [2, (_, object, path) => withValueAt(object, path, null)],
  [2, (chance, object, path) => withValueAt(object, path, otherType(chance, valueAt(object, path)))],
  [6, (chance, object, path) => withValueAt(object, path, otherValue(chance, valueAt(object, path)))],
  [6, addField],
  [2, addItem],
  [
    1,
    (chance, object, path) =>
      withValueAt(object, [...path.slice(0, -1), "unknownField"], pick<Json>(chance, ["x", 1, { a: 1 }])),
  ],
  [1, (_, object, path) => withValueAt(object, path, emptied(valueAt(object, path)))],
];

/** The object with one thing changed, well or badly. The same chance makes the same change of the same object. */
export function mutate(chance: Random, object: JsonObject, schema: TypeSchema | undefined): JsonObject {
  for (let attempt = 0; attempt < 20; attempt++) {
    const paths = pathsOf(object).filter((path) => !isFixed(path));
    if (paths.length === 0) return object;
    const path = pick(chance, paths);
    if (path[0] === "status" && chance.chance(0.8)) continue;
    const changed = weighted(chance, changes)(chance, object, path, schema);
    if (isJsonObject(changed)) return changed;
  }
  return object;
}

function isFixed(path: JsonPath): boolean {
  return fixed.has(path.join(".")) || fixed.has(path.slice(0, 2).join("."));
}

export function otherValue(chance: Random, value: Json | undefined): Json {
  if (typeof value === "string") return pick(chance, awkwardTexts);
  if (typeof value === "number") return pick(chance, awkwardNumbers);
  if (typeof value === "boolean") return !value;
  if (isList(value)) return chance.chance(0.5) ? value.toReversed() : value.slice(1);
  return isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .slice(1),
      )
    : "a";
}

function otherType(chance: Random, value: Json | undefined): Json {
  const others: readonly Json[] = ["text", "7", 7, 1.5, true, ["x"], { x: "y" }, []];
  return pick(
    chance,
    others.filter((other) => typeof other !== typeof value || isList(other) !== isList(value)),
  );
}

function emptied(value: Json | undefined): Json {
  if (isList(value)) return [];
  if (isJsonObject(value)) return {};
  return typeof value === "number" ? 0 : "";
}

/** A field that the type has and the object does not, or a key of a map. */
function addField(
  chance: Random,
  object: JsonObject,
  path: JsonPath,
  schema: TypeSchema | undefined,
): Json | undefined {
  const holder = isJsonObject(valueAt(object, path)) ? path : path.slice(0, -1);
  const type = schema === undefined ? undefined : typeAt(schema, holder);
  const held = valueAt(object, holder);
  if (!isJsonObject(held) || type === undefined) return undefined;
  if (type.properties === undefined) {
    if (type.additionalProperties === undefined) return undefined;
    const key = pick(chance, ["z", "x/y", "Bad Key", "-a", "app", "cpu"]);
    return withValueAt(object, [...holder, key], generateValue(chance, type.additionalProperties));
  }
  const missing = Object.keys(type.properties)
    .filter((field) => held[field] === undefined && !isFixed([...holder, field]))
    .toSorted();
  if (missing.length === 0) return undefined;
  const field = pick(chance, missing);
  return withValueAt(object, [...holder, field], generateValue(chance, type.properties[field] ?? {}));
}

/** Another item of a list: the same again, the same with a change, or one made from the type. */
function addItem(chance: Random, object: JsonObject, path: JsonPath, schema: TypeSchema | undefined): Json | undefined {
  const list = valueAt(object, path);
  if (!isList(list) || list.length === 0) return undefined;
  const item = pick(chance, list);
  const items = schema === undefined ? undefined : typeAt(schema, path)?.items;
  const added = weighted<Json>(chance, [
    [2, item],
    [2, isJsonObject(item) ? mutate(chance, item, items) : otherValue(chance, item)],
    [1, items === undefined ? item : generateValue(chance, items)],
  ]);
  return withValueAt(object, path, chance.chance(0.7) ? [...list, added] : [added, ...list]);
}

export function typeAt(schema: TypeSchema, path: JsonPath): TypeSchema | undefined {
  return path.reduce<TypeSchema | undefined>(
    (type, step) => (typeof step === "number" ? type?.items : (type?.properties?.[step] ?? type?.additionalProperties)),
    schema,
  );
}
