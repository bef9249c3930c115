import { StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { qualifiedName, type Resource } from "../resource/resource.ts";

type Named = Pick<Resource, "group" | "plural">;

/** `details` of an error about an object: its `kind` is the resource's plural. */
function detailsOf({ group, plural }: Named, name: string, more: JsonObject = {}): JsonObject {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: plural, ...more };
}

export function notFound(resource: Named, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualifiedName(resource)} "${name}" not found`, detailsOf(resource, name));
}

/** Of a path that names no resource of a group version that is there. */
export function noSuchResource(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

export function alreadyExists(resource: Named, name: string): StatusError {
  const message = `${qualifiedName(resource)} "${name}" already exists`;
  return new StatusError(409, "AlreadyExists", message, detailsOf(resource, name));
}

export function conflict(resource: Named, name: string, reason: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualifiedName(resource)} "${name}": ${reason}`;
  return new StatusError(409, "Conflict", message, detailsOf(resource, name));
}

export const modified = "the object has been modified; please apply your changes to the latest version and try again";

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

export function forbidden(resource: Named, name: string, why: string, details: JsonObject = {}): StatusError {
  const object = name === "" ? qualifiedName(resource) : `${qualifiedName(resource)} "${name}"`;
  return new StatusError(403, "Forbidden", `${object} is forbidden: ${why}`, detailsOf(resource, name, details));
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const types = accepted.join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
  return new StatusError(415, "UnsupportedMediaType", message);
}

export function notAcceptable(message: string, details?: JsonObject): StatusError {
  return new StatusError(406, "NotAcceptable", message, details);
}

/** An error without a reason, as the server answers what it did not foresee: 500. */
export function internal(message: string): StatusError {
  return new StatusError(500, undefined, message);
}

/** The 410 for a revision that the server no longer remembers. */
export function expired(wanted: number, oldest: number): StatusError {
  return new StatusError(410, "Expired", `too old resource version: ${wanted} (${oldest})`);
}
