import { ownerLabels } from "../api/names.ts";
import { Failure } from "../core/failure.ts";
import { formatJson, isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Manifest } from "../core/manifest.ts";
import type { BuildSpec, Owner } from "./build-spec.ts";
import { mapping } from "./fields.ts";
import { normalise } from "./normalise.ts";

/** What Flux does between build and apply (reference 3.12): check, expand lists, add owner labels, normalise, add common metadata. */
export function finishBuild(
  objects: readonly JsonObject[],
  owner: Pick<Owner, "name" | "namespace">,
  common: BuildSpec["commonMetadata"] = {},
): Manifest[] {
  for (const object of objects) assertNamed(object);
  const labels = ownerLabels(owner);
  return objects
    .flatMap(expandList)
    .filter((object) => isManifest(object) && !isKustomization(object))
    .map((object) => {
      const owned = withMetadata(normalise(withMetadata(object, { labels })), common);
      if (!isManifest(owned)) throw undecodable(object);
      return owned;
    });
}

function assertNamed(object: JsonObject): void {
  const { metadata } = object;
  // A kind that is a number, or that is empty once variables are substituted. A missing file is refused by kustomize.
  if (!isText(object["kind"])) {
    const text = shownJson(object);
    throw new Failure(
      "BuildFailed",
      `error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '${text}'`,
    );
  }
  if (
    !isText(object["apiVersion"]) ||
    !isJsonObject(metadata) ||
    !(isText(metadata["name"]) || isJsonList(object["items"] ?? null))
  ) {
    throw undecodable(object);
  }
}

function undecodable(object: JsonObject): Failure {
  return new Failure("BuildFailed", `failed to decode Kubernetes apiVersion, kind and name from: ${shownJson(object)}`);
}

/** As Go prints it: kustomize has put the fields in order. */
function shownJson(object: JsonObject): string {
  return formatJson(withoutValues(object)).slice(0, 2_000);
}

const shownFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata.name", "metadata.namespace"]);

/**
 * The object as a status and an event may quote it: its kind, name and namespace, and only the names of its other fields,
 * since an object of any kind may hold secret values.
 */
function withoutValues(object: JsonObject, path = ""): JsonObject {
  const shown = (value: Json, field: string): Json => {
    if (isJsonObject(value)) return withoutValues(value, `${field}.`);
    if (isJsonList(value) && field === "items")
      return value.map((item) => (isJsonObject(item) ? withoutValues(item) : hidden));
    const isScalarKind = field === "kind" && !isJsonList(value);
    return isScalarKind || (shownFields.has(field) && isText(value)) ? value : hidden;
  };
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, shown(value, `${path}${name}`)]));
}

const hidden = "*****";

function expandList(object: JsonObject): readonly JsonObject[] {
  const items = object["items"] ?? null;
  return isJsonList(items) ? items.filter(isJsonObject) : [object];
}

function isManifest(object: JsonObject): object is JsonObject & Manifest {
  const { apiVersion, kind, metadata } = object;
  return isText(apiVersion) && isText(kind) && isJsonObject(metadata) && isText(metadata["name"]);
}

function isKustomization({ apiVersion, kind }: JsonObject): boolean {
  return kind === "Kustomization" && isText(apiVersion) && apiVersion.startsWith("kustomize.config.k8s.io/");
}

/** The object with these labels and annotations; they win over its own. */
function withMetadata(
  object: JsonObject,
  { labels, annotations }: NonNullable<BuildSpec["commonMetadata"]>,
): JsonObject {
  const metadata = object["metadata"];
  if (!isJsonObject(metadata)) return object;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(hasEntries(labels) && { labels: { ...mapping(metadata["labels"]), ...labels } }),
      ...(hasEntries(annotations) && { annotations: { ...mapping(metadata["annotations"]), ...annotations } }),
    },
  };
}

function hasEntries(map: Readonly<Record<string, string>> | undefined): map is Readonly<Record<string, string>> {
  return map !== undefined && Object.keys(map).length > 0;
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
