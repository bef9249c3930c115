import type { FieldError } from "../core/api-object.ts";
import { forbidden, notSupported, required, tooLong } from "../core/field-errors.ts";
import { invalid } from "../rules/invalid.ts";
import type { FieldValidation } from "./decode-object.ts";
import type { User } from "./users.ts";

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Who writes: `fieldManager`, else the User-Agent up to its first slash. */
  readonly manager: string;
  readonly fieldValidation: FieldValidation;
  /** Of an apply only. */
  readonly force: boolean;
  /** Whose rights limit what a write may grant; undefined for the server's own writes. */
  readonly user?: User;
}

export type WriteVerb = "create" | "update" | "patch" | "apply";

const kinds: Readonly<Record<WriteVerb, string>> = {
  create: "CreateOptions",
  update: "UpdateOptions",
  patch: "PatchOptions",
  apply: "PatchOptions",
};

const maxManagerBytes = 128;
const validations: readonly FieldValidation[] = ["Ignore", "Strict", "Warn"];

/** @throws {StatusError} 422 naming every option that is wrong */
export function writeOptions(
  query: URLSearchParams,
  { userAgent, user }: { readonly userAgent: string; readonly user: User },
  verb: WriteVerb,
): WriteOptions {
  const manager = query.get("fieldManager") ?? "";
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const validation = query.get("fieldValidation") ?? "";
  const fieldValidation = validation === "" ? "Warn" : validations.find((known) => known === validation);
  const force = query.get("force");
  const errors: readonly FieldError[] = [
    ...(verb === "apply" && manager === "" ? [required("fieldManager", "is required for apply patch")] : []),
    ...(verb === "patch" && force !== null ? [forbidden("force", "may not be specified for non-apply patch")] : []),
    ...managerErrors(manager),
    ...(dryRun.some((value) => value !== "All") ? [unsupportedDryRun(dryRun)] : []),
    ...(fieldValidation === undefined ? [notSupported("fieldValidation", validation, ["", ...validations])] : []),
  ];
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: kinds[verb] }, "", errors);
  return {
    dryRun: dryRun.length > 0,
    manager: manager === "" ? managerOfUserAgent(userAgent) : manager,
    fieldValidation: fieldValidation ?? "Warn",
    force: force === "true" || force === "1",
    user,
  };
}

export function unsupportedDryRun(values: readonly string[]): FieldError {
  return notSupported("dryRun", values, ["All"]);
}

function managerErrors(manager: string): readonly FieldError[] {
  if (Buffer.byteLength(manager) > maxManagerBytes) return [tooLong("fieldManager", maxManagerBytes)];
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(manager);
  if (odd === null) return [];
  const message = `Invalid value: ${JSON.stringify(manager)}: invalid character ${JSON.stringify(odd[0])} (at position ${odd.index})`;
  return [{ reason: "FieldValueInvalid", field: "fieldManager", message }];
}

function managerOfUserAgent(userAgent: string): string {
  const name = userAgent.split("/", 1)[0] ?? "";
  return name.slice(0, maxManagerBytes);
}
