import { keyedDigest } from "../../core/digest.ts";
import { canonicalJson, type JsonObject } from "../../core/json.ts";
import type { ManagedFieldsEntry } from "../../core/manifest.ts";
import type { Secret } from "../../core/secret.ts";
import { type ApplyRules, isOverridden } from "./apply-rules.ts";
import type { OwnerStyle } from "./owner-style.ts";

/** Our Apply entry of the main resource: what we own in an object, or undefined where we own nothing. */
export function ownEntry(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  { manager: own }: Pick<OwnerStyle, "manager">,
): ManagedFieldsEntry | undefined {
  return managedFields?.find(
    ({ manager, operation, subresource }) => manager === own && operation === "Apply" && (subresource ?? "") === "",
  );
}

/**
 * Keyed digest of the fields we own in an object, without the time of the last write. Any other writer that changes or
 * removes a field of ours takes it out of our entry, so as long as this stays, every field of ours still has the value we
 * sent. Keyed since the items of a set are in it as they are.
 */
export function fingerprint(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  key: Secret,
  style: Pick<OwnerStyle, "manager">,
): string | undefined {
  const fields = ownFields(managedFields, style);
  return fields && keyedDigest(key, canonicalJson(fields));
}

/** The fields we own in an object, without the time of the last write; undefined where we own nothing. */
export function ownFields(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  style: Pick<OwnerStyle, "manager">,
): { readonly apiVersion: string; readonly fieldsV1: JsonObject | undefined } | undefined {
  const entry = ownEntry(managedFields, style);
  return entry && { apiVersion: entry.apiVersion, fieldsV1: entry.fieldsV1 };
}

/**
 * Whether an apply takes over what this entry owns: edits by kubectl, by a manager that the installation names, by an applier
 * before the first apply and by ourselves through updates are reverted; those of any other manager stay (reference 3.14,
 * field-manager takeover).
 */
export function isTakenOver(entry: ManagedFieldsEntry, rules: ApplyRules): boolean {
  const { manager, operation, subresource } = entry;
  if ((subresource ?? "") !== "" || ownEntry([entry], rules.style) !== undefined) return false;
  if (manager.startsWith("kubectl") || isOverridden(entry, rules)) return true;
  return (
    operation === "Update" && (manager.startsWith("before-first-apply") || manager.startsWith(rules.style.manager))
  );
}
