import { isJsonObject } from "../core/json.ts";
import { typesFile } from "./type-names.ts";

/** A field as Go declares it. */
export interface GoField {
  /** As Go prints it, without the pointer: `[]v1.Container`, `v1.PullPolicy`. */
  readonly type: string;
  /** Whether an empty value that was set is written: that of a pointer is, and where the tag has no `omitempty`. */
  readonly isWrittenWhenEmpty: boolean;
}

export interface GoStruct {
  /** In the order in which Go writes them. */
  readonly fields: ReadonlyMap<string, GoField>;
  /** Fields that are written as null when they are not set: lists, maps and pointers that are never left out, and times. */
  readonly nullWhenUnset: readonly string[];
  /** Texts that are written even when they are not set. */
  readonly emptyWhenUnset: readonly string[];
}

const resolved = new Map<string, GoStruct>();

/** The Go struct behind a built-in type, `core.v1.PodSpec`. */
export function goStruct(name: string | undefined): GoStruct | undefined {
  if (name === undefined) return undefined;
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const raw = typesFile.goTypes[name];
  if (!isJsonObject(raw)) return undefined;
  const entries = Object.entries(raw).map(([field, text]): [string, string] => [
    field,
    typeof text === "string" ? text : "",
  ]);
  const struct = {
    fields: new Map(entries.map(([field, text]) => [field, goField(text)])),
    nullWhenUnset: entries.filter(([, text]) => isNullWhenUnset(text)).map(([field]) => field),
    emptyWhenUnset: entries.filter(([, text]) => text === "!string").map(([field]) => field),
  };
  resolved.set(name, struct);
  return struct;
}

/** The name of a built-in type as Go prints it: `v1.PodSpec`. */
export function goTypeName(name: string): string {
  return name.split(".").slice(-2).join(".");
}

/** `!` stands before what has no `omitempty`, `~` before what has `omitzero`. */
function goField(text: string): GoField {
  return {
    type: text.replace(/^[!~]?\*?/, "").replaceAll("[]byte", "[]uint8"),
    isWrittenWhenEmpty: /^(!|~?\*)/.test(text),
  };
}

function isNullWhenUnset(text: string): boolean {
  return /^!(\*|\[\]|map\[)/.test(text) || /^!?v1\.(Micro)?Time$/.test(text);
}
