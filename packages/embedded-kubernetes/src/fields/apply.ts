import { type ApiObject, type Gvk, type ManagedFields, StatusError } from "../core/api-object.ts";
import { isJsonObject } from "../core/json.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { typeError } from "./check-typed.ts";
import { isSame } from "./compare-fields.ts";
import { conflictError } from "./conflict-error.ts";
import { isEmpty } from "./field-set.ts";
import { fieldSetOf } from "./field-set-of.ts";
import { allowedByLastApplied, withLastApplied } from "./last-applied.ts";
import { decodeManagers, encodeManagers, type Manager, type Managers, managerId } from "./managers.ts";
import { mergeFields } from "./merge-fields.ts";
import { managedFieldsOf, withoutManagedFields } from "./object-managed-fields.ts";
import { pruneFields } from "./prune-fields.ts";
import { takeOver } from "./take-over.ts";
import { trackUpdate } from "./track-update.ts";
import { withoutUnowned } from "./unowned-fields.ts";
import { type Versions, versionsOf } from "./versions.ts";

export interface ApplyInput {
  /** In the request's version, with its managedFields; `undefined` if there is none yet. */
  readonly live: ApiObject | undefined;
  readonly applied: ApiObject;
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly force: boolean;
  readonly schema: TypeSchema;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  readonly namespaceInBody: string;
  readonly gvk: Gvk;
  readonly isBuiltin: boolean;
  /** Whether status is a subresource of its own, so that an apply to the object itself neither sets nor owns it. */
  readonly hasStatus?: boolean;
  /** The version that conflicts name for every updater, where the applied object is a view of another kind. */
  readonly conflictVersion?: string;
  /** How to see the object in other versions; built-in kinds convert without. */
  readonly versions?: Versions;
}

export interface Applied {
  /** Without managedFields; the live object itself, less those, if nothing changed. */
  readonly object: ApiObject;
  readonly managedFields: ManagedFields;
}

/**
 * Server-side apply on one object: merge, removal, conflicts, ownership. Pure.
 *
 * @throws {StatusError} 400 for managedFields in the body, 500 for what does not fit the type, 409 for conflicts
 */
export function applyFields(input: ApplyInput): Applied {
  const { applied, schema, live, now, apiVersion, isBuiltin } = input;
  refuseManagedFields(applied);
  const error = typeError(applied, schema);
  if (error !== undefined) throw typedPatchError(input, error);
  const versions = input.versions ?? versionsOf(input.gvk, schema);
  const known = managedFieldsOf(live);
  const before = live === undefined ? {} : withoutManagedFields(live);
  const managers = decodeManagers(
    live !== undefined && known.length === 0
      ? trackUpdate({
          before: undefined,
          after: withoutResetFields({ ...input, applied: before }),
          managedFields: [],
          manager: "before-first-apply",
          apiVersion,
          schema,
          now,
          isBuiltin,
          ...subresourceOf(input),
        })
      : known,
  );
  return merged(input, before, managers, versions);
}

function merged(input: ApplyInput, before: ApiObject, managers: Managers, versions: Versions): Applied {
  const { manager, apiVersion, subresource = "", schema, force, now } = input;
  const applied = withoutResetFields(input);
  const self: Manager = {
    manager,
    operation: "Apply",
    apiVersion,
    subresource,
    time: undefined,
    // With the name and the like, so that removal does not take the metadata that holds them for empty.
    set: fieldSetOf(applied, schema),
  };
  const id = managerId(self);
  const last = managers.get(id);
  const owners = new Map(managers).set(id, { ...self, time: last?.time });
  const whole = mergeFields(before, applied, schema);
  const after = pruneFields(isJsonObject(whole) ? whole : {}, last, owners, apiVersion, versions);
  const { conflicts, others, comparison } = takeOver(before, after, owners, id, apiVersion, schema, versions);
  if (conflicts.size > 0 && !force) {
    const allowed = manager === "kubectl" ? allowedByLastApplied(before, conflicts, schema) : conflicts;
    if (manager !== "kubectl" || allowed.size > 0) throw conflictError(allowed, managers, input.conflictVersion);
  }
  const isUnchanged = isSame(comparison);
  const own: Manager = { ...self, set: withoutUnowned(self.set), time: isUnchanged ? last?.time : now };
  const result = new Map(others);
  if (isEmpty(own.set)) result.delete(id);
  else result.set(id, own);
  const object = manager === "kubectl" ? withLastApplied(isUnchanged ? before : after, input.applied) : after;
  return { object: isUnchanged && manager !== "kubectl" ? before : object, managedFields: encodeManagers(result) };
}

/** What the strategy of the resource keeps from the stored object whatever is sent. */
function withoutResetFields(input: ApplyInput): ApiObject {
  const { applied, subresource, isBuiltin, hasStatus = isBuiltin } = input;
  if (subresource === undefined) {
    if (!hasStatus) return applied;
    const { status: _, ...rest } = applied;
    return rest;
  }
  if (subresource !== "status") return applied;
  const { spec: _, metadata, ...rest } = applied;
  if (!isBuiltin || !isJsonObject(metadata)) return metadata === undefined ? rest : { ...rest, metadata };
  const { labels: __, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function subresourceOf({ subresource }: ApplyInput): { readonly subresource?: string } {
  return subresource === undefined ? {} : { subresource };
}

function refuseManagedFields(applied: ApiObject): void {
  const { metadata } = applied;
  const given = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  if (given !== undefined && given !== null) {
    throw new StatusError(400, "BadRequest", "metadata.managedFields must be nil");
  }
}

function typedPatchError({ applied, namespaceInBody, gvk }: ApplyInput, error: string): StatusError {
  const { metadata } = applied;
  const name = isJsonObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
  const type = `${gvk.group}/${gvk.version}, Kind=${gvk.kind}`;
  return new StatusError(
    500,
    undefined,
    `failed to create typed patch object (${namespaceInBody}/${name}; ${type}): ${error}`,
  );
}
