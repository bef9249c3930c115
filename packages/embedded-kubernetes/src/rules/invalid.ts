import { type FieldError, type Gvk, StatusError } from "../core/api-object.ts";
import { quote } from "../core/go-value.ts";

/**
 * The 422 of a real API server. Equal messages are said once, yet each error keeps its cause: an update checks the
 * metadata twice, so its causes come in pairs.
 */
export function invalid(gvk: Pick<Gvk, "group" | "kind">, name: string, errors: readonly FieldError[]): StatusError {
  const kind = gvk.group === "" ? gvk.kind : `${gvk.kind}.${gvk.group}`;
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const all = texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
  const causes = errors.map(({ reason, message, field }) => ({ reason, message, field }));
  return new StatusError(422, "Invalid", `${kind} ${quote(name)} is invalid: ${all}`, {
    ...(name === "" ? {} : { name }),
    ...(gvk.group === "" ? {} : { group: gvk.group }),
    ...(gvk.kind === "" ? {} : { kind: gvk.kind }),
    ...(causes.length > 0 ? { causes } : {}),
  });
}
