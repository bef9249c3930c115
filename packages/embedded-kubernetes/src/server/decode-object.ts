import { type ApiObject, messageOf } from "../core/api-object.ts";
import { ConversionError } from "../core/conversion-error.ts";
import { formatJson, isJsonObject, type Json } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { canonicalObject } from "../rules/canonical-object.ts";
import { withoutNulls } from "../rules/prune-object.ts";
import { strictErrors } from "../rules/strict-errors.ts";
import { badRequest } from "./errors.ts";
import { goTypeError, goTypeErrorAt } from "./go-type-error.ts";
import { type ParsedBody, repeatedKeys } from "./parse-body.ts";
import type { Resources } from "./resources.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** An object of a request body, as Go would have decoded it, and the warnings about fields that it lost. */
export interface DecodedObject {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/**
 * The object of a POST or PUT.
 *
 * @throws {StatusError} 400 for another kind, a wrong type, or unknown fields under Strict
 */
export function decodeObject(
  { value, json, repeated }: ParsedBody,
  resource: Resource,
  resources: Resources,
  fieldValidation: FieldValidation,
): DecodedObject {
  if (value === null)
    return decodeObject({ value: {}, json: "{}", repeated: [] }, resource, resources, fieldValidation);
  if (!isJsonObject(value)) {
    const type = Array.isArray(value) ? "array" : typeof value;
    const expected =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw unrecognized(
      resource,
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type ${expected}`,
      json,
    );
  }
  const identified = withIdentity(value, resource, resources);
  const wrongType = typeErrorOf(identified, resource);
  if (wrongType !== undefined) throw cannotHandle(resource, resource.kind, wrongType);
  const unknown = fieldValidation === "Ignore" ? [] : unknownFields(json, resource);
  if (fieldValidation === "Strict" && unknown.length + repeated.length > 0) {
    const problems = [...(repeated.length === 0 ? [] : [repeatedKeys(repeated)]), ...unknown];
    throw cannotHandle(resource, resource.kind, `strict decoding error: ${problems.join(", ")}`);
  }
  const warnings = fieldValidation === "Ignore" ? [] : [...repeated, ...unknown];
  return { object: canonicalOrRefuse(identified, resource), warnings };
}

/** What strict decoding finds in a body; for a custom resource that has another kind's fields nothing is unknown. */
export function unknownFields(json: string, resource: Resource): readonly string[] {
  return strictErrors(json, resource.schema());
}

export function typeErrorOf(object: ApiObject, resource: Resource): string | undefined {
  const schema = resource.schema();
  if (resource.custom === undefined) return goTypeError(object, schema, resource.kind);
  const metadata = schema.properties?.["metadata"];
  return metadata === undefined || object["metadata"] === undefined
    ? undefined
    : goTypeErrorAt(object["metadata"], metadata, resource.kind, "metadata");
}

/** The 400 for a body that is not JSON or YAML document; the bytes are shown in hexadecimal as the server does. */
export function unrecognized({ kind }: Pick<Resource, "kind">, problem: string, text: string): Error {
  const bytes = Buffer.from(text);
  // What looks like JSON is shown as it is.
  const head = bytes.subarray(0, 30).toString(text.startsWith("{") ? "utf8" : "hex");
  const shown = `${head}${bytes.length > 30 ? " ..." : ""}`;
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): ${problem} (${text === "" ? "<empty>" : shown})`,
  );
}

function withIdentity(value: ApiObject, resource: Resource, resources: Resources): ApiObject {
  const apiVersion = apiVersionOf(resource);
  const { apiVersion: givenVersion = "", kind: givenKind = "" } = value;
  if (givenVersion === "" && givenKind === "" && resource.custom === undefined) {
    return { ...value, apiVersion, kind: resource.kind };
  }
  if (givenVersion === apiVersion && givenKind === resource.kind) return value;
  const hasNoKind = givenKind === "" || givenKind === null;
  // Of a custom resource that says neither, the kind is missed first.
  const missesKind = hasNoKind && resource.custom !== undefined;
  if ((givenVersion === "" || givenVersion === null) && !missesKind) {
    throw unrecognized(resource, `Object 'apiVersion' is missing in '${formatJson(value)}'`, formatJson(value));
  }
  if (hasNoKind) {
    throw unrecognized(resource, `Object 'Kind' is missing in '${formatJson(value)}'`, formatJson(value));
  }
  throw otherKind(value, resource, resources, plainText(givenVersion), plainText(givenKind));
}

function otherKind(value: ApiObject, resource: Resource, resources: Resources, version: string, kind: string): Error {
  if (resource.custom !== undefined) {
    return badRequest(
      version === apiVersionOf(resource)
        ? `the object provided is unrecognized (must be of type ${resource.kind}): ${kind} in ${version}`
        : `the API version in the data (${version}) does not match the expected API version (${apiVersionOf(resource)})`,
    );
  }
  const slash = version.indexOf("/");
  const other = resources.findKind(version.slice(0, Math.max(slash, 0)), version.slice(slash + 1), kind);
  if (other === undefined || other.custom !== undefined) {
    const problem = `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
    return cannotHandle(resource, kind, problem);
  }
  const problem = typeErrorOf(value, other) ?? conversionProblem(value, other);
  const mismatch = `converting (${other.version}.${kind}) to (${resource.group === "" ? "core" : resource.group.split(".")[0]}.${resource.kind}): unknown conversion`;
  return cannotHandle(resource, kind, problem ?? mismatch, other.version);
}

function conversionProblem(value: ApiObject, resource: Resource): string | undefined {
  try {
    canonicalObject(value, resource, resource.schema());
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * The object as Go's decoder leaves it.
 *
 * @throws {ConversionError}
 */
export function decodedObject(object: ApiObject, resource: Resource): ApiObject {
  const schema = resource.schema();
  const decoded = canonicalObject(object, resource, schema);
  return resource.custom === undefined ? decoded : withoutNulls(decoded, schema);
}

function canonicalOrRefuse(object: ApiObject, resource: Resource): ApiObject {
  try {
    return decodedObject(object, resource);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw cannotHandle(resource, resource.kind, error.message);
  }
}

function cannotHandle(resource: Resource, kind: Json, problem: string, version = resource.version): Error {
  return badRequest(`${plainText(kind)} in version "${version}" cannot be handled as a ${resource.kind}: ${problem}`);
}
