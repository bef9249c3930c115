import { isJsonList, isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { Recording } from "../../e2e/recorded-flux/recording.ts";

const maxColumns = 160;

/**
 * What no comparison reads: what differs from run to run in every scenario, and which fields of one of Flux's own objects are whose.
 * Of an object that Flux applied, a scenario shows those under another name.
 */
const notRecorded = new Set([
  "creationTimestamp",
  "fieldsType",
  "fieldsV1",
  "firstReconciled",
  "lastReconciled",
  "lastReconciledDuration",
  "resourceVersion",
  "time",
  "uid",
]);
const hasTime = /(?:Time|image\.created)$/;
const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** What is recorded of what a step left, with placeholders for other values that differ from run to run. */
export function recordable(left: JsonObject): JsonObject {
  const kept = Object.entries(left).filter(([key]) => !notRecorded.has(key));
  return Object.fromEntries(kept.map(([key, field]) => [key, recordableValue(key, field)]));
}

function recordableValue(key: string, value: Json): Json {
  if (typeof value === "string") return hasTime.test(key) && isTime.test(value) ? "<time>" : withPlaceholders(value);
  if (isJsonList(value)) return value.map((item) => recordableValue(key, item));
  return isJsonObject(value) ? recordable(value) : value;
}

function withPlaceholders(text: string): string {
  return text
    .replace(/\/[\w/.-]*\/flux-recorder-\w+\/scratch\/kustomization-\d+/g, "<tmp>")
    .replace(/\/[\w/.-]*\/flux-recorder-\w+/g, "<elsewhere>");
}

/** The text of a recording's file. A condition, or the entry of an inventory, is one line of it, so that a reader compares whole ones. */
export function formatRecording(recording: Recording): string {
  return `${formatJsonLines(recording, "", 0)}\n`;
}

/** @param reserved the columns that the key before the value and the comma behind it take */
function formatJsonLines(value: Json, indent: string, reserved: number): string {
  const line = onOneLine(value);
  if (indent.length + reserved + line.length <= maxColumns || isFlat(value)) return line;
  const inner = `${indent}  `;
  if (isJsonList(value))
    return `[\n${value.map((item) => `${inner}${formatJsonLines(item, inner, 1)}`).join(",\n")}\n${indent}]`;
  if (!isJsonObject(value)) return line;
  const fields = Object.entries(value).map(([key, field]) => {
    const name = `${JSON.stringify(key)}: `;
    return `${inner}${name}${formatJsonLines(field, inner, name.length + 1)}`;
  });
  return `{\n${fields.join(",\n")}\n${indent}}`;
}

/** Whether it is a plain value, or an object of such. */
function isFlat(value: Json): boolean {
  const isPlain = (one: Json) => typeof one !== "object" || one === null;
  return isPlain(value) || (isJsonObject(value) && Object.values(value).every(isPlain));
}

function onOneLine(value: Json): string {
  if (isJsonList(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (!isJsonObject(value)) return typeof value === "bigint" ? String(value) : JSON.stringify(value);
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${onOneLine(field)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}
