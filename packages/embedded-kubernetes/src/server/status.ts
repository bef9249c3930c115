import type { StatusError } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import type { Resource } from "../resource/resource.ts";

export function failureStatus(error: StatusError): JsonObject {
  const { code, reason, message, details } = error;
  const { continue: token, ...rest } = details ?? {};
  const hasDetails = details !== undefined && (token === undefined || Object.keys(rest).length > 0);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: token === undefined ? {} : { continue: token },
    status: "Failure",
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(hasDetails ? { details: rest } : {}),
    code,
  };
}

/** What a DELETE answers that removed the object at once. */
export function deletedStatus({ group, plural }: Resource, name: string, uid: string): JsonObject {
  const details = { name, ...(group === "" ? {} : { group }), kind: plural, uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
