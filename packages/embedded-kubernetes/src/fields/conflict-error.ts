import { StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { type FieldSet, memberPaths } from "./field-set.ts";
import type { Manager, Managers } from "./managers.ts";
import { pathText } from "./path-element.ts";

/** The 409 of an apply that would change what others own: one cause for each field and owner. */
export function conflictError(
  conflicts: ReadonlyMap<string, FieldSet>,
  managers: Managers,
  version?: string,
): StatusError {
  const owners = [...conflicts.keys()].sort().flatMap((id) => {
    const manager = managers.get(id);
    const set = conflicts.get(id);
    return manager === undefined || set === undefined
      ? []
      : [
          {
            owner: ownerText(version === undefined ? manager : { ...manager, apiVersion: version }),
            fields: memberPaths(set).map(pathText),
          },
        ];
  });
  const causes: JsonObject[] = owners.flatMap(({ owner, fields }) =>
    fields.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${owner}`, field })),
  );
  return new StatusError(409, "Conflict", messageOf(owners, causes.length), { causes });
}

interface Owner {
  readonly owner: string;
  readonly fields: readonly string[];
}

function messageOf(owners: readonly Owner[], count: number): string {
  const [first] = owners;
  if (count === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.fields.join("")}`;
  }
  const lines = owners.flatMap(({ owner, fields }) => [
    `conflicts with ${owner}:`,
    ...fields.map((field) => `- ${field}`),
  ]);
  return `Apply failed with ${count} conflicts: ${lines.join("\n")}`;
}

function ownerText({ manager, operation, apiVersion, subresource }: Manager): string {
  const using = operation === "Update" ? ` using ${apiVersion}` : "";
  return `${JSON.stringify(manager)}${subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`}${using}`;
}
