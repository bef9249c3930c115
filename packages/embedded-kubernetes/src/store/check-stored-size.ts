import { type ApiObject, StatusError } from "../core/api-object.ts";
import { formatJson } from "../core/json.ts";
import type { StoredObject } from "./stored-object.ts";

/** What etcd takes in one request by default; its client gives up before it asks from 2 MiB on. */
export const maxRequestBytes = 1.5 * 1024 * 1024;
const maxMessageBytes = 2 * 1024 * 1024;
const maxBytesPerLetter = 3;

/**
 * The store of a real cluster takes no object over 1.5 MiB, and neither does this one. Built-in kinds are kept in
 * protobuf there and in JSON here, so for them the limit is not the same to the byte; Secrets, whose values are a third
 * shorter there, have a limit of their own that is below it.
 *
 * @throws {StatusError} 500, in etcd's words
 */
export function checkStoredSize({ resource, metadata, body }: StoredObject, object: ApiObject): void {
  // Nearly every object is far below it, which its texts show without another.
  if (resource === "/secrets" || (metadata.length + body.length) * maxBytesPerLetter < maxRequestBytes) return;
  const bytes = Buffer.byteLength(formatJson(object));
  if (bytes <= maxRequestBytes) return;
  const message =
    bytes <= maxMessageBytes
      ? "etcdserver: request is too large"
      : `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${bytes} vs. ${maxMessageBytes})`;
  throw new StatusError(500, undefined, message);
}
