import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { LiveObject } from "../core/manifest.ts";
import { formatApiVersion } from "../core/object-ref.ts";
import { ApiError } from "../core/ports/cluster.ts";

/** Whether an answer is an object of the cluster: it has a kind, a name and a uid. */
function isLiveObject(value: unknown): value is LiveObject {
  if (!isJsonObject(value)) return false;
  const { apiVersion, kind, metadata } = value;
  return (
    typeof apiVersion === "string" &&
    typeof kind === "string" &&
    isJsonObject(metadata) &&
    typeof metadata["name"] === "string" &&
    typeof metadata["uid"] === "string"
  );
}

export function liveObject(value: unknown): LiveObject {
  if (isLiveObject(value)) return value;
  const message = "the cluster answered something that is no object: it lacks a kind, a name or a uid";
  throw new ApiError({ code: 200, reason: "InternalError", message });
}

/** An item of a list. Items of built-in kinds come without kind and version, partial ones with those of their envelope. */
export function listItem(item: JsonObject, query: { group: string; version: string; kind: string }): LiveObject {
  return liveObject({ ...item, apiVersion: formatApiVersion(query), kind: query.kind });
}
