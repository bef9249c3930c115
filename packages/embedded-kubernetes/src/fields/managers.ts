import type { ManagedFields, ManagedFieldsEntry } from "../core/api-object.ts";
import { isJsonObject, type Json } from "../core/json.ts";
import { type FieldSet, isEmpty } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "./fields-v1.ts";

/** One line of `managedFields` with its set decoded. */
export interface Manager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** Managers by their identity. */
export type Managers = ReadonlyMap<string, Manager>;

/**
 * Manager, operation, subresource, and for Update the API version too. Sorts as the server sorts, which compares the
 * same fields as JSON text.
 */
export function managerId(entry: Omit<Manager, "set" | "time">): string {
  const { manager, operation, apiVersion, subresource } = entry;
  return JSON.stringify({
    manager,
    operation,
    ...(operation === "Update" ? { apiVersion } : {}),
    ...(subresource === "" ? {} : { subresource }),
  });
}

/** @throws {TypeError} for an entry whose fieldsV1 is none */
export function decodeManagers(managedFields: ManagedFields): Managers {
  const managers = new Map<string, Manager>();
  for (const entry of managedFields) {
    const { manager, operation, apiVersion, subresource = "", time, fieldsV1 = {} } = entry;
    const decoded: Manager = { manager, operation, apiVersion, subresource, time, set: decodeFieldsV1(fieldsV1) };
    managers.set(managerId(decoded), decoded);
  }
  return managers;
}

/** The entries as they are stored: without empty ones, Apply before Update, then by time (none first) and name. */
export function encodeManagers(managers: Managers): ManagedFields {
  return [...managers.values()]
    .filter(({ set }) => !isEmpty(set))
    .sort(byServerOrder)
    .map(encodeManager);
}

function encodeManager({ manager, operation, apiVersion, subresource, time, set }: Manager): ManagedFieldsEntry {
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encodeFieldsV1(set),
    ...(subresource === "" ? {} : { subresource }),
  };
}

function byServerOrder(a: Manager, b: Manager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? "", b.time ?? "") ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The managers with their sets changed, those left without a field dropped. */
export function mapSets(managers: Managers, change: (manager: Manager, id: string) => FieldSet): Managers {
  const result = new Map<string, Manager>();
  for (const [id, manager] of managers) {
    const set = change(manager, id);
    if (!isEmpty(set)) result.set(id, set === manager.set ? manager : { ...manager, set });
  }
  return result;
}

/** What a request put into `metadata.managedFields`, if every entry is well-formed. */
export function parseManagedFields(value: Json | undefined): ManagedFields | undefined {
  if (!Array.isArray(value)) return undefined;
  const entries: ManagedFieldsEntry[] = [];
  for (const item of value) {
    if (!isManagedFieldsEntry(item)) return undefined;
    entries.push(item);
  }
  try {
    decodeManagers(entries);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
  return entries;
}

function isManagedFieldsEntry(item: unknown): item is ManagedFieldsEntry {
  if (!isJsonObject(item)) return false;
  const { operation, apiVersion, fieldsType, fieldsV1 } = item;
  const isOperation = operation === "Apply" || operation === "Update";
  return (
    isOperation &&
    typeof apiVersion === "string" &&
    apiVersion !== "" &&
    fieldsType === "FieldsV1" &&
    (fieldsV1 === undefined || isJsonObject(fieldsV1))
  );
}
