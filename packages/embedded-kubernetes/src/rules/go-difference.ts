import { type GoStruct, goStruct } from "../core/go-value.ts";
import { formatJson, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { isList, objectOf } from "../core/json-fields.ts";
import { goTypes } from "./go-types.ts";
import { unifiedDifference } from "./unified-difference.ts";

interface GoField {
  readonly apiName: string;
  readonly goName: string;
  /** The struct that the field holds, or that its items are. */
  readonly type: string | undefined;
  readonly isNested: boolean;
  readonly zero: Json;
}

const fieldPattern = /^(?:([A-Za-z]+)>)?([A-Za-z]+)(?:=(\{\})?([A-Za-z]+)|:(0|false)|(""))?$/;
const parsedTypes = new Map<string, readonly GoField[]>();

function fieldsOf(type: string): readonly GoField[] {
  const known = parsedTypes.get(type);
  if (known !== undefined) return known;
  const fields = (goTypes[type] ?? "").split(" ").map(parseField);
  parsedTypes.set(type, fields);
  return fields;
}

function parseField(text: string): GoField {
  const [, apiName, goName = "", nested, type, plain, empty] = fieldPattern.exec(text) ?? [];
  const zero = empty !== undefined ? "" : plain === "0" ? 0 : plain === "false" ? false : null;
  return {
    apiName: apiName ?? goName.charAt(0).toLowerCase() + goName.slice(1),
    goName,
    type,
    isNested: nested !== undefined,
    zero,
  };
}

/** An API object as Go's JSON encoder prints the internal struct: its fields in order, all of them. */
function structOf(object: JsonObject, type: string): JsonObject {
  return Object.fromEntries(
    fieldsOf(type).map(({ apiName, goName, type: inner, isNested, zero }) => {
      const value = object[apiName] ?? (isNested ? {} : undefined);
      return [goName, value === undefined ? zero : goField(value, inner)];
    }),
  );
}

function goField(value: Json, type: string | undefined): Json {
  if (isList(value)) return value.map((item) => goField(item, type));
  if (!isJsonObject(value)) return value;
  return type === undefined ? untyped(value) : structOf(value, type);
}

/** A map of the user's, such as labels, or a type whose fields are not known here: keys sorted as Go does. */
function untyped(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Host namespaces belong to the security context in the internal type. */
function goPodSpec(spec: JsonObject): JsonObject {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers } = spec;
  const host = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  const set = Object.fromEntries(
    Object.entries(host).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  return structOf({ ...spec, securityContext: { ...objectOf(spec, "securityContext"), ...set } }, "PodSpec");
}

/** A Pod template as a 422 prints it: the metadata with its API names, the spec as Go names it. */
export function printedTemplate(template: JsonObject): GoStruct {
  return goStruct({ ...objectOf(template, "metadata"), Spec: goPodSpec(objectOf(template, "spec") ?? {}) });
}

export function podSpecDifference(spec: JsonObject, before: JsonObject): string {
  return unifiedDifference(printed(goPodSpec(before)), printed(goPodSpec(spec)));
}

export function claimSpecDifference(spec: JsonObject, before: JsonObject): string {
  const type = "PersistentVolumeClaimSpec";
  return unifiedDifference(printed(structOf(before, type)), printed(structOf(spec, type)));
}

function printed(value: JsonObject): readonly string[] {
  return formatJson(value, 1).split("\n");
}
