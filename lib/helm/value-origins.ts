import { equal, isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";

/** One text of `valuesFrom`, or the inline values, composed without the others. */
export interface ValuesLayer {
  readonly values: JsonObject;
}

/** A value that has no values below it, with its place in the notation of `helm --set`. */
export interface ValueLeaf {
  readonly path: string;
  readonly value: Json;
  /** The places of the layers that it comes from, as a rule one: several if none alone has this value. */
  readonly layers: readonly number[];
}

/**
 * The leaves of merged values, each with the layer that it comes from: the last one that has this value at this place. Empty maps and lists
 * are leaves, too. Pure.
 *
 * @param layers in the order in which they were merged
 */
export function valueLeaves(merged: JsonObject, layers: readonly ValuesLayer[]): readonly ValueLeaf[] {
  const indexes = layers.map(({ values }) => new Map(leaves(values, "").map(({ path, value }) => [path, value])));
  return leaves(merged, "").map(({ path, value }) => {
    const having = indexes.flatMap((index, place) => (index.has(path) ? [place] : []));
    const last = having.findLast((place) => equal(indexes[place]?.get(path) ?? null, value));
    return { path, value, layers: last === undefined ? having : [last] };
  });
}

/** The path of a value by the keys and indexes that lead to it, in the notation of `helm --set`. Pure. */
export function pathTo(tokens: readonly string[], values: Json): string {
  let path = "";
  let at: Json | undefined = values;
  for (const token of tokens) {
    if (at !== undefined && isJsonList(at)) {
      path += `[${token}]`;
      at = at[Number(token)];
    } else {
      path += path === "" ? escaped(token) : `.${escaped(token)}`;
      at = isJsonObject(at) ? at[token] : undefined;
    }
  }
  return path;
}

interface Leaf {
  readonly path: string;
  readonly value: Json;
}

function leaves(value: Json, path: string): readonly Leaf[] {
  const below = isJsonList(value)
    ? value.map((item, place) => [`${path}[${place}]`, item] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(
          ([key, item]) => [path === "" ? escaped(key) : `${path}.${escaped(key)}`, item] as const,
        )
      : [];
  if (below.length > 0) return below.flatMap(([at, item]) => leaves(item, at));
  return path === "" ? [] : [{ path, value }];
}

/** Characters with a meaning in a path of `--set` are escaped. */
function escaped(key: string): string {
  return key.replaceAll(/[\\.,=[\]{}]/g, (character) => `\\${character}`);
}
