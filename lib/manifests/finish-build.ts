import { kustomizeGroup } from "../api/names.ts";
import { ownerLabels } from "../api/owner-labels.ts";
import { Failure } from "../core/failure.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Manifest } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import type { Owner } from "./build-input.ts";
import type { BuildSpec } from "./build-spec.ts";
import { goYamlText } from "./go-yaml-text.ts";
import { normalise } from "./normalise.ts";

const decryptAnnotation = `${kustomizeGroup}/decrypt`;

/** What Flux does between build and apply (reference 3.12): checks, lists expanded, owner labels, normalisation, common metadata. */
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
      refuseEncrypted(object);
      const owned = withMetadata(normalise(withMetadata(object, { labels })), common);
      if (!isManifest(owned)) throw undecodable(object);
      return owned;
    });
}

function assertNamed(object: JsonObject): void {
  const { metadata } = object;
  const isNamed = isText(object["kind"]) && isText(object["apiVersion"]);
  if (!isNamed || !isJsonObject(metadata) || !(isText(metadata["name"]) || isJsonList(object["items"] ?? null))) {
    throw undecodable(object);
  }
}

function undecodable(object: JsonObject): Failure {
  const shown = withoutValues(object);
  const text = (goYamlText(shown) ?? JSON.stringify(shown)).slice(0, 2_000);
  return new Failure("BuildFailed", `failed to decode Kubernetes apiVersion, kind and name from: ${text}`);
}

const shownFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata.name", "metadata.namespace"]);

/**
 * The object as a status and an event may quote it: what it is and where it belongs, and the names of its other fields. It
 * may have been meant as a Secret, or hold what is secret as any other kind may.
 */
function withoutValues(object: JsonObject, path = ""): JsonObject {
  const shown = (value: Json, field: string): Json => {
    if (isJsonObject(value)) return withoutValues(value, `${field}.`);
    if (isJsonList(value) && field === "items")
      return value.map((item) => (isJsonObject(item) ? withoutValues(item) : hidden));
    return shownFields.has(field) && isText(value) ? value : hidden;
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

/** Labels and annotations laid over those that are there. */
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

/** Before normalisation, which would make an encrypted `stringData` look like plain data. */
function refuseEncrypted(object: JsonObject): void {
  if (object["apiVersion"] !== "v1" || object["kind"] !== "Secret" || !("sops" in object)) return;
  const metadata = mapping(object["metadata"]);
  const decrypt = mapping(metadata["annotations"])[decryptAnnotation];
  if (typeof decrypt === "string" && decrypt.toLowerCase() === "disabled") return;
  const { name, namespace } = metadata;
  const secret = subject({
    kind: "Secret",
    namespace: isText(namespace) ? namespace : "",
    name: isText(name) ? name : "",
  });
  const message = `${secret} is SOPS encrypted, configuring decryption is required for this secret to be reconciled`;
  throw new Failure("ReconciliationFailed", message);
}

function hasEntries(map: Readonly<Record<string, string>> | undefined): map is Readonly<Record<string, string>> {
  return map !== undefined && Object.keys(map).length > 0;
}

function mapping(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value !== "";
}
