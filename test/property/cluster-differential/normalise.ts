import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { ApiAnswer } from "./api-server.ts";
import { isList } from "./json-paths.ts";

/** The part of an answer that is compared: a placeholder replaces each value that has to differ between two servers. */
export interface Normalised {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: Json;
}

const controllers = new Set(["kube-controller-manager", "kube-scheduler", "kwok"]);
const uuid = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** `withControllers`: what controllers write (status, their managedFields, revisions) is left out. */
export function normalise({ status, warnings, body }: ApiAnswer, withControllers: boolean): Normalised {
  const isStatus = isJsonObject(body) && body["kind"] === "Status" && body["apiVersion"] === "v1";
  const isTable = isJsonObject(body) && body["kind"] === "Table";
  return {
    status,
    warnings: warnings.map(plain),
    body: isStatus ? ofStatus(body) : isTable ? ofTable(body) : ofValue(body, withControllers),
  };
}

function plain(text: string): string {
  return text
    .replaceAll(uuid, "<uid>")
    .replaceAll(/"?resourceVersion\\*"?:\s*\\*"?\d+\\*"?/g, "<rv>")
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)/g, "<time>")
    .replaceAll(/ResourceVersion in record \(\d+\)/g, "ResourceVersion in record <rv>")
    .replaceAll(/\b10\.0\.\d{1,3}\.\d{1,3}\b(?!\/)/g, "<ip>")
    .replaceAll(/nodePort\\*":3\d{4}/g, "<nodePort>");
}

function ofStatus(status: JsonObject): Json {
  const { details, message, ...rest } = status;
  if (!isJsonObject(details)) return { ...rest, ...(typeof message === "string" ? { message: plain(message) } : {}) };
  const { causes, ...others } = details;
  const sorted = isList(causes) ? { causes: causes.map((cause) => plain(JSON.stringify(cause))).toSorted() } : {};
  return {
    ...rest,
    message: typeof message === "string" ? plain(message) : null,
    details: { ...ofFields(others, false), ...sorted },
  };
}

/** Cells that hold an age are left out, and so are the descriptions of columns, which are prose. */
function ofTable(table: JsonObject): Json {
  const columns = isList(table["columnDefinitions"]) ? table["columnDefinitions"].filter(isJsonObject) : [];
  const rows = isList(table["rows"]) ? table["rows"].filter(isJsonObject) : [];
  const ages = new Set(
    columns.flatMap((column, index) => (column["name"] === "Age" || column["name"] === "Created At" ? [index] : [])),
  );
  return {
    columns: columns.map(({ description: _description, ...column }) => column),
    rows: rows.map(({ cells, object }) => ({
      cells: isList(cells)
        ? cells.map((cell, index) => (ages.has(index) ? "<age>" : typeof cell === "string" ? plain(cell) : cell))
        : null,
      object: ofValue(object ?? null, true),
    })),
  };
}

function ofValue(value: Json, withControllers: boolean): Json {
  if (isList(value)) return value.map((item) => ofValue(item, withControllers));
  if (isJsonObject(value)) return ofFields(value, withControllers);
  return typeof value === "string" ? value.replaceAll(uuid, "<uid>") : value;
}

const placeholders: Readonly<Record<string, string>> = {
  uid: "<uid>",
  resourceVersion: "<rv>",
  creationTimestamp: "<time>",
  deletionTimestamp: "<time>",
  clusterIP: "<ip>",
  nodePort: "<nodePort>",
  healthCheckNodePort: "<nodePort>",
};

function ofFields(object: JsonObject, withControllers: boolean): JsonObject {
  const entries = Object.keys(object)
    .toSorted()
    .flatMap((field): [string, Json][] => {
      const value = object[field] ?? null;
      if (field === "managedFields" && isList(value)) return [[field, managersOf(value, withControllers)]];
      if (withControllers && (field === "status" || field === "deployment.kubernetes.io/revision")) return [];
      if (field === "clusterIPs" && isList(value)) return [[field, value.map(placed)]];
      const placeholder = placeholders[field];
      return [
        [
          field,
          placeholder === undefined || value === "" || value === "None" || isJsonObject(value)
            ? ofValue(value, withControllers)
            : placeholder,
        ],
      ];
    });
  return Object.fromEntries(entries);
}

function placed(ip: Json): Json {
  return ip === "None" ? ip : "<ip>";
}

/** Without times, in an order of their own; only whether there is a time is kept. */
function managersOf(entries: readonly Json[], withControllers: boolean): Json {
  return entries
    .filter(isJsonObject)
    .filter(({ manager }) => !withControllers || typeof manager !== "string" || !controllers.has(manager))
    .map(({ time, ...entry }) => ({ ...ofFields(entry, false), time: time === undefined ? "none" : "<time>" }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
