import { type ApiObject, formatApiVersion, type Gvk, parseApiVersion } from "../core/api-object.ts";
import { builtinSchema } from "../schema/builtin-schema.ts";
import type { TypeSchema } from "../schema/type-schema.ts";
import { convertBuiltin } from "./convert-builtin.ts";

/** How an object is looked at in another API version of its kind. */
export interface Versions {
  /** The object in that version, `undefined` where the version is not served (any more). */
  readonly convert: (object: ApiObject, apiVersion: string) => ApiObject | undefined;
  readonly schemaOf: (apiVersion: string) => TypeSchema | undefined;
}

/** The versions of a built-in kind; of a custom resource only the one that is asked in, unless the caller knows more. */
export function versionsOf(gvk: Gvk, schema: TypeSchema): Versions {
  const own = formatApiVersion(gvk);
  const schemaOf = (apiVersion: string): TypeSchema | undefined => {
    if (apiVersion === own) return schema;
    const { group, version } = parseApiVersion(apiVersion);
    return group === gvk.group ? builtinSchema({ group, version, kind: gvk.kind }) : undefined;
  };
  const convert = (object: ApiObject, apiVersion: string): ApiObject | undefined => {
    if (object["apiVersion"] === apiVersion || apiVersion === own) return convertBuiltin(object, apiVersion);
    return schemaOf(apiVersion) === undefined ? undefined : convertBuiltin(object, apiVersion);
  };
  return { convert, schemaOf };
}
