import { formatJson, isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";

const undeclared = /(?:^|: |\n {2})(\.[^\n]*?): field not declared in schema/g;

/**
 * The object without the fields that an API server's answer calls undeclared; undefined if the object has none of them. Paths
 * are those of structured-merge-diff: `.spec.containers[name="web"].colour`.
 */
export function withoutUndeclared(object: JsonObject, answer: string): JsonObject | undefined {
  let current: Json = object;
  for (const path of undeclaredFields(answer)) current = removeAt(current, path) ?? current;
  return current !== object && isJsonObject(current) ? current : undefined;
}

/** The paths of the fields that an API server's answer calls undeclared. */
export function undeclaredFields(answer: string): readonly string[] {
  return [...answer.matchAll(undeclared)].map(([, path = ""]) => path);
}

/** The value without the field at the path; undefined if there is none. */
function removeAt(value: Json, path: string): Json | undefined {
  return isJsonList(value)
    ? removeFromList(value, path)
    : isJsonObject(value)
      ? removeFromMapping(value, path)
      : undefined;
}

function removeFromMapping(mapping: JsonObject, path: string): Json | undefined {
  for (const [field, inner] of Object.entries(mapping)) {
    // Names of fields may contain dots and brackets, so the path is matched against the object.
    if (!path.startsWith(`.${field}`)) continue;
    const rest = path.slice(field.length + 1);
    if (rest === "") {
      const { [field]: _removed, ...others } = mapping;
      return others;
    }
    const changed = removeAt(inner, rest);
    if (changed !== undefined) return { ...mapping, [field]: changed };
  }
  return undefined;
}

function removeFromList(list: readonly Json[], path: string): Json | undefined {
  const [element = "", index, keys = ""] =
    /^\[(?:(\d+)|([A-Za-z]+=(?:"(?:[^"\\]|\\.)*"|[^",=\]]+)(?:,[A-Za-z]+=(?:"(?:[^"\\]|\\.)*"|[^",=\]]+))*))\]/.exec(
      path,
    ) ?? [];
  if (element === "") return undefined;
  const at = index === undefined ? list.findIndex((item) => hasKeys(item, keys)) : Number(index);
  const changed = removeAt(list[at] ?? null, path.slice(element.length));
  return changed === undefined ? undefined : list.with(at, changed);
}

/** Whether an item of a keyed list has these keys. A key that it lacks was filled in by a default. */
function hasKeys(item: Json, keys: string): boolean {
  if (!isJsonObject(item)) return false;
  return [...keys.matchAll(/([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^",=\]]+)/g)].every(([, key = "", text = ""]) => {
    const value = item[key];
    return value === undefined || formatJson(value) === text;
  });
}
