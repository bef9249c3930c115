import { isJsonObject, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";

type Step =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "all" }
  | { readonly kind: "filter"; readonly path: readonly Step[]; readonly isEqual: boolean; readonly value: string };

/**
 * The values that a JSON path of a printer column finds: fields (dots in them protected by a backslash), indices, `*`
 * and comparisons such as `[?(@.type=="Ready")]`. A path that says more finds nothing.
 */
export function findByPath(root: Json, path: string): readonly Json[] {
  const steps = parsePath(path);
  return steps === undefined ? [] : found([root], steps);
}

function found(values: readonly Json[], steps: readonly Step[]): readonly Json[] {
  let current = values;
  for (const step of steps) current = current.flatMap((value) => taken(value, step));
  return current;
}

function taken(value: Json, step: Step): readonly Json[] {
  switch (step.kind) {
    case "field":
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] ?? null] : [];
    case "index": {
      const item = isList(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "all":
      if (isList(value)) return value;
      return isJsonObject(value) ? Object.values(value) : [];
    case "filter":
      return isList(value)
        ? value.filter((item) => found([item], step.path).some((one) => plainText(one) === step.value) === step.isEqual)
        : [];
  }
}

function parsePath(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = path
    .trim()
    .replace(/^\{(.*)\}$/s, "$1")
    .replace(/^[$@]/, "");
  while (rest !== "") {
    const match =
      /^\.?\[\?\(@(?<filter>[^=!]*?)\s*(?<operator>==|!=)\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[\w.-]+))\s*\)\]/.exec(
        rest,
      ) ??
      /^\.?\[(?<index>-?\d+)\]/.exec(rest) ??
      /^\.?\[(?<quote>['"])(?<quoted>.*?)\k<quote>\]/.exec(rest) ??
      /^\.?\[?(?<all>\*)\]?/.exec(rest) ??
      /^\.?(?<name>(?:\\.|[^.[\]\\])+)/.exec(rest);
    const step = match?.groups === undefined ? undefined : stepOf(match.groups);
    if (match === null || step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(match[0].length);
  }
  return steps;
}

function stepOf(groups: Readonly<Record<string, string | undefined>>): Step | undefined {
  const { filter, operator, double, single, bare, index, quoted, all, name } = groups;
  if (filter !== undefined) {
    const path = parsePath(filter);
    const value = double ?? single ?? bare ?? "";
    return path === undefined ? undefined : { kind: "filter", path, isEqual: operator === "==", value };
  }
  if (index !== undefined) return { kind: "index", index: Number(index) };
  if (quoted !== undefined) return { kind: "field", name: quoted };
  if (all !== undefined) return { kind: "all" };
  return name === undefined ? undefined : { kind: "field", name: name.replace(/\\(.)/g, "$1") };
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
