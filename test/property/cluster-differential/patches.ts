import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { TypeSchema } from "../../../packages/embedded-kubernetes/src/schema/type-schema.ts";
import type { Random } from "../../unit/queue/simulator/random.ts";
import { pick, weighted } from "./choice.ts";
import { awkwardTexts, generateValue } from "./generate-value.ts";
import { isList, type JsonPath, pathsOf, valueAt, withValueAt } from "./json-paths.ts";
import { otherValue, typeAt } from "./mutate.ts";
import type { Subject } from "./subjects.ts";

/** The object that one manager applies: without a few of its parts. */
export function applyBody(chance: Random, object: JsonObject): JsonObject {
  let body: Json = object;
  const count = weighted(chance, [
    [2, 0],
    [2, 1],
    [2, 3],
    [2, 8],
  ]);
  for (let index = 0; index < count; index++) {
    const removable = pathsOf(body).filter(([first, second, ...rest]) => isOptional(first, second, rest.length));
    if (removable.length > 0) body = withValueAt(body, pick(chance, removable), undefined);
  }
  return isJsonObject(body) ? body : object;
}

function isOptional(first: string | number | undefined, second: string | number | undefined, depth: number): boolean {
  if (first === "apiVersion" || first === "kind") return false;
  return first !== "metadata" || (second !== undefined && second !== "name") || depth > 0;
}

/** A place to change: mostly a present field, now and then another field of the type. */
function placeIn(chance: Random, live: JsonObject, isPlain: (path: JsonPath) => boolean): JsonPath {
  const paths = pathsOf(live).filter(
    (path) => path[0] !== "status" && !(path[0] === "metadata" && path[1] === "managedFields") && isPlain(path),
  );
  return pick(chance, paths);
}

function newValue(chance: Random, live: JsonObject, path: JsonPath, schema: TypeSchema | undefined): Json {
  const value = valueAt(live, path);
  const type = schema === undefined ? undefined : typeAt(schema, path);
  return weighted<Json>(chance, [
    [3, null],
    [5, otherValue(chance, value)],
    [type === undefined ? 0 : 3, type === undefined ? null : generateValue(chance, type)],
    [1, pick(chance, awkwardTexts)],
    [1, pick<Json>(chance, [{}, [], 1, true])],
  ]);
}

export function mergePatchOf(chance: Random, live: JsonObject, { schema }: Subject): Json {
  const path = placeIn(chance, live, (each) => each.every((step) => typeof step === "string"));
  const more = chance.chance(0.2) ? [...path.slice(0, -1), "brandNew"] : path;
  return more.reduceRight<Json>((inner, step) => ({ [step]: inner }), newValue(chance, live, path, schema));
}

/** A patch along one path, each list item on the way named by its merge key. */
export function strategicPatchOf(chance: Random, live: JsonObject, { schema }: Subject): Json {
  const path = placeIn(chance, live, () => true);
  const leaf = weighted<Json>(chance, [
    [6, newValue(chance, live, path, schema)],
    [1, { $patch: pick(chance, ["delete", "replace", "merge", "other"]) }],
    [1, [{ $patch: "replace" }]],
  ]);
  const build = (depth: number): Json => {
    const step = path[depth];
    if (step === undefined) return leaf;
    const inner = build(depth + 1);
    if (typeof step === "string") return { [step]: inner };
    const item = valueAt(live, path.slice(0, depth + 1));
    const key = schema === undefined ? undefined : typeAt(schema, path.slice(0, depth))?.patchMergeKey;
    if (!isJsonObject(item) || key === undefined || item[key] === undefined || chance.chance(0.05)) return [inner];
    return [
      { ...(isJsonObject(inner) ? inner : {}), [key]: item[key], ...(chance.chance(0.1) ? { $patch: "delete" } : {}) },
    ];
  };
  return withElementOrder(chance, build(0));
}

/** Now and then the order of a list of maps is given as well, as in patches of kubectl. */
function withElementOrder(chance: Random, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const entries = Object.entries(patch).flatMap(([field, value]): [string, Json][] => {
    if (!isList(value)) return [[field, withElementOrder(chance, value)]];
    // Only for lists merged by name: given an order without the merge key, the real server panics and closes the connection.
    const keys = value.flatMap((item) =>
      isJsonObject(item) && item["name"] !== undefined ? [{ name: item["name"] }] : [],
    );
    return keys.length > 0 && chance.chance(0.1)
      ? [
          [`$setElementOrder/${field}`, keys],
          [field, value],
        ]
      : [[field, value]];
  });
  return Object.fromEntries(entries);
}

export function jsonPatchOf(chance: Random, live: JsonObject): Json {
  return Array.from({ length: chance.int(1, 2) }, () => operation(chance, live));
}

function operation(chance: Random, live: JsonObject): Json {
  const path = placeIn(chance, live, () => true);
  const pointer = pointerTo(path);
  const value = chance.chance(0.5) ? otherValue(chance, valueAt(live, path)) : (valueAt(live, path) ?? null);
  const other = pointerTo(placeIn(chance, live, () => true));
  return weighted<Json>(chance, [
    [3, { op: "replace", path: pointer, value }],
    [3, { op: "remove", path: pointer }],
    [2, { op: "add", path: chance.chance(0.3) ? `${pointer}/-` : pointer, value }],
    [1, { op: "add", path: `${pointer}/new`, value: "x" }],
    [1, { op: "test", path: pointer, value }],
    [1, { op: "copy", from: other, path: pointer }],
    [1, { op: "move", from: other, path: pointer }],
    [1, { op: "remove", path: `${pointer}/none` }],
  ]);
}

function pointerTo(path: JsonPath): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
