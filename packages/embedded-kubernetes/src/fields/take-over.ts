import { type ApiObject, StatusError } from "../core/api-object.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { typeError } from "./check-typed.ts";
import { type Comparison, compareFields } from "./compare-fields.ts";
import { difference, type FieldSet, intersection, isEmpty, union } from "./field-set.ts";
import { type Managers, mapSets } from "./managers.ts";
import type { Versions } from "./versions.ts";

export interface TakeOver {
  /** The fields a change would take from others, by the owner's id. */
  readonly conflicts: ReadonlyMap<string, FieldSet>;
  /** All others after the change: without the conflicting and the removed fields. */
  readonly others: Managers;
  /** The change in the version of the request. */
  readonly comparison: Comparison;
}

/**
 * What a change does to the managers other than `self`, each looked at in its own API version.
 *
 * @throws {StatusError} 500 where another manager's version does not know a field of the object
 */
export function takeOver(
  before: ApiObject,
  after: ApiObject,
  managers: Managers,
  self: string | undefined,
  apiVersion: string,
  schema: TypeSchema,
  versions: Versions,
): TakeOver {
  const comparison = compareFields(before, after, schema);
  const byVersion = new Map<string, Comparison | undefined>([[apiVersion, comparison]]);
  const comparisonIn = (version: string): Comparison | undefined => {
    if (!byVersion.has(version)) byVersion.set(version, compareInVersion(before, after, version, versions));
    return byVersion.get(version);
  };
  const conflicts = new Map<string, FieldSet>();
  const others = mapSets(managers, ({ set, apiVersion: version }, id) => {
    if (id === self) return set;
    const change = comparisonIn(version);
    // A version that is no longer served: what its owner owns cannot be known.
    if (change === undefined) return difference(set, set);
    const conflict = intersection(set, union(change.modified, change.added));
    if (!isEmpty(conflict)) conflicts.set(id, conflict);
    return difference(difference(set, conflict), change.removed);
  });
  return { conflicts, others, comparison };
}

function compareInVersion(
  before: ApiObject,
  after: ApiObject,
  version: string,
  { convert, schemaOf }: Versions,
): Comparison | undefined {
  const schema = schemaOf(version);
  const [old, fresh] = [convert(before, version), convert(after, version)];
  if (schema === undefined || old === undefined || fresh === undefined) return undefined;
  refuseUntyped(old, schema, "old");
  refuseUntyped(fresh, schema, "new");
  return compareFields(old, fresh, schema);
}

/** A field that the other version does not know cannot be compared there. */
function refuseUntyped(object: ApiObject, schema: TypeSchema, side: "old" | "new"): void {
  const error = typeError(object, schema);
  if (error !== undefined) throw new StatusError(500, undefined, `failed to convert ${side} object: ${error}`);
}
