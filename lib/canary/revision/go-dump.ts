import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import table from "./go-types.json" with { type: "json" };
import { quantityDump } from "./quantity-dump.ts";
import { dumpOfMap } from "./spew-hash.ts";

/** A value without its type; undefined and null are Go's zero values. */
type Dump = (value: Json | undefined) => string;
type Entry = (object: JsonObject) => string;

const unixEpochSeconds = 62_135_596_800n;
// Flagger's container has no time zone.
const location =
  "{name:(string)UTC zone:([]time.zone)<nil> tx:([]time.zoneTrans)<nil> extend:(string) cacheStart:(int64)0 " +
  "cacheEnd:(int64)0 cacheZone:(*time.zone)<nil>}";

const structs: Readonly<Record<string, readonly (readonly string[])[] | undefined>> = table.structs;
const underlying: Readonly<Record<string, string | undefined>> = table.underlying;
const special: Readonly<Record<string, Dump | undefined>> = {
  "resource.Quantity": (value) => quantityDump(isNothing(value) ? undefined : scalarText("resource.Quantity", value)),
  "intstr.IntOrString": intOrStringDump,
  "v1.Time": timeDump,
  "v1.FieldsV1": (value) =>
    `{Raw:([]uint8)${isNothing(value) ? "<nil>" : `[${[...Buffer.from(JSON.stringify(value))].join(" ")}]`}}`,
};

const made = new Map<string, Dump>();

/**
 * How go-spew dumps a value of a Go type by `%#v` that was decoded from JSON, with the type before it. The types are those of
 * go-types.json, which test/interop/canary-hash makes. It throws a `TypeError` with the type whose JSON has another shape.
 */
export function goDump(type: string, value: Json): string {
  return `(${type})${dumpOf(type)(value)}`;
}

function dumpOf(type: string): Dump {
  const known = made.get(type);
  if (known !== undefined) return known;
  const dump = special[type] ?? composedDump(type, underlying[type] ?? type);
  made.set(type, dump);
  return dump;
}

function composedDump(type: string, kind: string): Dump {
  if (kind.startsWith("*")) return orNil(dumpOf(kind.slice(1)));
  if (kind.startsWith("[]")) return orNil(listDump(kind));
  if (kind.startsWith("map[")) return orNil(mapDump(kind));
  const fields = structs[type];
  return fields === undefined ? scalarDump(type, kind) : structDump(type, fields);
}

function orNil(dump: Dump): Dump {
  return (value) => (isNothing(value) ? "<nil>" : dump(value));
}

function listDump(type: string): Dump {
  const each = dumpOf(type.slice("[]".length));
  return (value) => {
    if (!Array.isArray(value)) throw unexpected(type, value);
    return `[${value.map(each).join(" ")}]`;
  };
}

function mapDump(type: string): Dump {
  const each = dumpOf(type.slice(type.indexOf("]") + 1));
  return (value) => {
    if (!isJsonObject(value)) throw unexpected(type, value);
    return dumpOfMap(Object.entries(value).map(([key, entry]) => [key, each(entry)] as const));
  };
}

function structDump(type: string, fields: readonly (readonly string[])[]): Dump {
  let entries: readonly Entry[] | undefined;
  return (value) => {
    const object = isNothing(value) ? {} : value;
    if (!isJsonObject(object)) throw unexpected(type, object);
    // Made on demand, since types may contain themselves.
    entries ??= fields.map(entryOf);
    return `{${entries.map((entry) => entry(object)).join(" ")}}`;
  };
}

function entryOf([goName = "", jsonName = "", type = ""]: readonly string[]): Entry {
  const dump = dumpOf(type);
  const isInlined = jsonName === "";
  const before = `${goName}:(${type})`;
  return (object) => before + dump(isInlined ? object : object[jsonName]);
}

function scalarDump(type: string, kind: string): Dump {
  const none = { string: "", bool: "false" }[kind] ?? "0";
  const accepted = { string: ["string"], bool: ["boolean"] }[kind] ?? ["number", "bigint"];
  return (value) => {
    if (isNothing(value)) return none;
    if (!accepted.includes(typeof value)) throw unexpected(type, value);
    return scalarText(type, value);
  };
}

function scalarText(type: string, value: Json): string {
  if (typeof value === "object") throw unexpected(type, value);
  return String(value);
}

function intOrStringDump(value: Json | undefined): string {
  const isText = typeof value === "string";
  const number = isText || isNothing(value) ? "0" : scalarText("intstr.IntOrString", value);
  return `{Type:(intstr.Type)${isText ? 1 : 0} IntVal:(int32)${number} StrVal:(string)${isText ? value : ""}}`;
}

function timeDump(value: Json | undefined): string {
  if (isNothing(value)) return "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}";
  const moment = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(moment)) throw unexpected("v1.Time", value);
  const seconds = BigInt(Math.floor(moment / 1000)) + unixEpochSeconds;
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)${location}}}`;
}

function isNothing(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function unexpected(type: string, value: Json | undefined): TypeError {
  const found = Array.isArray(value) ? "list" : typeof value;
  return new TypeError(`a ${type} of Kubernetes cannot be read from a JSON ${found}`);
}
