import { isJsonObject, type Json } from "../core/json.ts";
import type { SafeText } from "../core/known-words.ts";
import { subject } from "../core/object-ref.ts";

const previously = "internal.config.kubernetes.io/previousNamespaces";

/**
 * A list of objects that Go has printed, `[{...} {...}]`, by what they are alone: `[ConfigMap/apps/a (of namespace x)]`.
 * Nothing is shown from the first one on that is no object in JSON. Pure.
 */
export function conflictingObjects(printed: string): SafeText {
  const shown: string[] = [];
  for (let at = 1; ; ) {
    const end = endOfObject(printed, at);
    const id = end === undefined ? undefined : idOf(printed.slice(at, end));
    if (end === undefined || id === undefined) return { shown: `[${shown.join(" ")}`, isWhole: false };
    shown.push(id);
    if (printed.slice(end) === "]") return { shown: `[${shown.join(" ")}]`, isWhole: true };
    at = end + 1;
  }
}

/** Where the object ends that begins here; braces in texts do not count. */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  const marks = /"(?:[^"\\]|\\[^])*"|["{}]/g;
  marks.lastIndex = from;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    // A text without an end: nothing after it can be told apart.
    if (mark[0] === '"') return undefined;
    if (mark[0] === "{") depth += 1;
    if (mark[0] === "}") depth -= 1;
    if (depth <= 0) return marks.lastIndex;
  }
  return undefined;
}

function idOf(text: string): string | undefined {
  const { kind, metadata } = fieldsOf(text) ?? {};
  const { name, namespace = "", annotations = {} } = isJsonObject(metadata) ? metadata : {};
  if (!isPlain(kind) || !isPlain(name) || !isPlain(namespace)) return undefined;
  const before = isJsonObject(annotations) ? annotations[previously] : undefined;
  return `${subject({ kind, namespace, name })}${isPlain(before) && before !== "" ? ` (of namespace ${before})` : ""}`;
}

function fieldsOf(text: string): { readonly [field: string]: Json } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isPlain(value: Json | undefined): value is string {
  return typeof value === "string" && /^[\w.:,-]{0,512}$/.test(value);
}
