import { type ApiObject, type Gvk, type ManagedFields, StatusError } from "../core/api-object.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { capUpdaters } from "./cap-updaters.ts";
import { isEmpty, union } from "./field-set.ts";
import { decodeManagers, encodeManagers, type Manager, type Managers, managerId } from "./managers.ts";
import { withoutManagedFields } from "./object-managed-fields.ts";
import { PathElementError } from "./path-element.ts";
import { takeOver } from "./take-over.ts";
import { withoutUnowned } from "./unowned-fields.ts";
import { type Versions, versionsOf } from "./versions.ts";
import { zeroObject } from "./zero-object.ts";

export interface UpdateInput {
  /** `undefined` for a create. */
  readonly before: ApiObject | undefined;
  /** Defaulted and canonical, as it will be stored. */
  readonly after: ApiObject;
  /** Those of `before`, or as the request set them (`managedFieldsForUpdate`). */
  readonly managedFields: ManagedFields;
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly schema: TypeSchema;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly isBuiltin: boolean;
  readonly versions?: Versions;
}

/**
 * Who owns what after a POST, PUT or patch other than apply: set or changed fields join the writer's Update entry and
 * leave all others, removed ones leave all. An object that is not tracked stays so.
 *
 * Tracking never stops an update: with items that cannot be told apart the managers stay as they are, and they are
 * dropped where another manager's version does not know a field.
 */
export function trackUpdate(input: UpdateInput): ManagedFields {
  const { before, managedFields } = input;
  if (before !== undefined && managedFields.length === 0) return [];
  try {
    return encodeManagers(capUpdaters(tracked(input)));
  } catch (error) {
    if (error instanceof PathElementError) return managedFields;
    if (error instanceof StatusError) return [];
    throw error;
  }
}

function tracked(input: UpdateInput): Managers {
  const { before, after, managedFields, manager, apiVersion, subresource = "", schema, now, isBuiltin } = input;
  const start = before ?? (isBuiltin ? zeroObject(schema) : {});
  const self: Omit<Manager, "set"> = { manager, operation: "Update", apiVersion, subresource, time: now };
  const { others, comparison } = takeOver(
    withoutManagedFields(start),
    withoutManagedFields(after),
    decodeManagers(managedFields),
    undefined,
    apiVersion,
    schema,
    input.versions ?? versionsOf(gvkOf(after, apiVersion), schema),
  );
  const taken = withoutUnowned(union(comparison.modified, comparison.added));
  if (isEmpty(taken)) return others;
  const id = managerId(self);
  const own = others.get(id);
  const set = own === undefined ? taken : union(own.set, taken);
  return new Map(others).set(id, { ...self, set });
}

function gvkOf(object: ApiObject, apiVersion: string): Gvk {
  const slash = apiVersion.indexOf("/");
  const { kind } = object;
  return {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind: typeof kind === "string" ? kind : "",
  };
}
