import { ownerLabels } from "../api/names.ts";
import { equal, isJsonList, isJsonObject, type Json, type JsonObject, toJsonObject } from "../core/json.ts";
import { type JsonPointer, parsePointer, valueAt, withoutPointer, withValueAt } from "../core/json-pointer.ts";
import type { LiveObject, Manifest, Metadata } from "../core/manifest.ts";
import { isAppliedByOther, withoutOwned } from "./owned-fields.ts";
import type { OwnerStyle } from "./set/owner-style.ts";

/** The object without these fields, for a comparison. Its labels of the owner stay: without them it would not be ours. */
export function withoutIgnored(object: LiveObject, ignored: readonly string[]): JsonObject {
  return ignored.map(pointerOf).reduce<JsonObject>((left, pointer) => {
    const next = withoutPointer(left, pointer);
    return isJsonObject(next) ? next : left;
  }, toJsonObject(object));
}

/** Managed fields of an object without those that are ignored in it. */
export function ownedButIgnored(fields: JsonObject, object: LiveObject, ignored: readonly string[]): JsonObject {
  const json = toJsonObject(object);
  return ignored.map(pointerOf).reduce((left, pointer) => withoutOwned(left, json, pointer), fields);
}

/**
 * The payload in place of the manifest, so that ignored fields keep their live values: a field that another manager applies is left out,
 * which gives it up; any other gets its live value, or is left out if it has none. Only fields change that differ between the dry run of
 * the manifest and the live object. It names the version of the live object, so that an apply is refused once another client has written.
 */
export function payloadOf(
  manifest: Manifest,
  live: LiveObject,
  tried: LiveObject,
  ignored: readonly string[],
  style: Pick<OwnerStyle, "manager">,
): Manifest {
  const [before, after] = [toJsonObject(live), toJsonObject(tried)];
  let payload: Json = toJsonObject(manifest);
  for (const pointer of ignored.map(pointerOf).filter(isContent)) {
    const value = valueAt(before, pointer);
    if (equal(value, valueAt(after, pointer))) continue;
    const own = pointerIn(payload, before, pointer);
    const isLeftOut = value === undefined || isAppliedByOther(live, pointer, style);
    payload = isLeftOut ? withoutPointer(payload, own) : withValueAt(payload, own, value);
  }
  return { ...(isJsonObject(payload) ? payload : {}), ...identityOf(manifest, payload, live.metadata) };
}

/** Kind and name stay, and the labels of the owner: without them no prune would find the object. */
function identityOf(
  { apiVersion, kind, metadata }: Manifest,
  payload: Json,
  { resourceVersion }: Metadata,
): Pick<Manifest, "apiVersion" | "kind" | "metadata"> {
  const { name, namespace, labels = {} } = metadata;
  const sent = valueAt(payload, ["metadata"]);
  const sentLabels = valueAt(payload, ["metadata", "labels"]);
  const owner = Object.fromEntries(
    Object.entries(labels).filter(([key]) => key in ownerLabels({ name: "", namespace: "" })),
  );
  return {
    apiVersion,
    kind,
    metadata: {
      ...(isJsonObject(sent) ? sent : {}),
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...(isJsonObject(sentLabels) ? toLabels(sentLabels) : {}), ...owner },
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
  };
}

function toLabels(labels: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])),
  );
}

const writableMetadata = new Set(["annotations", "finalizers", "labels", "ownerReferences"]);

/** Whether the pointer names a field that a manifest can set, rather than one that only the API server writes. */
function isContent([first, second = ""]: JsonPointer): boolean {
  if (first === "metadata") return writableMetadata.has(second);
  return first !== undefined && first !== "apiVersion" && first !== "kind" && first !== "status";
}

/** The pointer for the payload: the item of a list may stand at another place there. It is found by its name. */
function pointerIn(payload: Json, live: Json, pointer: JsonPointer): JsonPointer {
  return pointer.map((part, depth) => {
    const [list, ours] = [live, payload].map((object) => valueAt(object, pointer.slice(0, depth)));
    if (list === undefined || !isJsonList(list) || ours === undefined || !isJsonList(ours)) return part;
    const name = valueAt(list, [part, "name"]);
    const place = name === undefined ? -1 : ours.findIndex((item) => equal(valueAt(item, ["name"]), name));
    return place < 0 ? part : String(place);
  });
}

function pointerOf(path: string): JsonPointer {
  return parsePointer(path) ?? [];
}
