import { isJsonObject, type Json } from "../../../lib/core/json.ts";
import { isList } from "./json-paths.ts";

export interface Difference {
  readonly path: string;
  readonly real: Json | undefined;
  readonly embedded: Json | undefined;
}

/** The first place, in the order of keys, where two values are not the same; a status and a message before the rest. */
export function firstDifference(real: Json | undefined, embedded: Json | undefined, path = ""): Difference | undefined {
  if (isJsonObject(real) && isJsonObject(embedded)) {
    const fields = [...new Set(["message", "status", ...Object.keys(real), ...Object.keys(embedded)])];
    return firstOf(fields, (field) =>
      firstDifference(real[field], embedded[field], path === "" ? field : `${path}.${field}`),
    );
  }
  if (isList(real) && isList(embedded)) {
    const indexes = Array.from({ length: Math.max(real.length, embedded.length) }, (_, index) => index);
    return firstOf(indexes, (index) => firstDifference(real[index], embedded[index], `${path}[${index}]`));
  }
  return real === embedded ? undefined : { path, real, embedded };
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => Difference | undefined): Difference | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
