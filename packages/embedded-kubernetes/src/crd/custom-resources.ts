import type { ApiObject } from "../core/api-object.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { plainText } from "../core/plain-text.ts";
import { type CustomVersion, customVersions } from "../resource/custom-version.ts";
import type { Resource } from "../resource/resource.ts";
import type { ServedSubresource } from "../schema/builtin-schema.ts";
import { crdSchema } from "../schema/crd-schema.ts";
import type { TypeSchema } from "../schema/type-schema.ts";

const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const subresourceVerbs = ["get", "patch", "update"];

/** The resources of an established definition, one for each served version, in the order of its versions. */
export function customResources(definition: ApiObject): readonly Resource[] {
  const { spec, status } = definition;
  if (!isJsonObject(spec) || !isJsonObject(status) || !isEstablished(status)) return [];
  const names = isJsonObject(status["acceptedNames"]) ? status["acceptedNames"] : {};
  const versions = customVersions(spec);
  const storage = versions.find((version) => version.storage)?.name ?? "";
  return versions.filter(({ served }) => served).map((version) => resourceOf(spec, names, version, storage));
}

function resourceOf(spec: JsonObject, names: JsonObject, version: CustomVersion, storage: string): Resource {
  const group = plainText(spec["group"]);
  const kind = plainText(names["kind"]);
  const plural = plainText(names["plural"]);
  let schema: TypeSchema | undefined;
  return {
    group,
    version: version.name,
    kind,
    listKind: plainText(names["listKind"] ?? `${kind}List`),
    plural,
    singular: plainText(names["singular"] ?? kind.toLowerCase()),
    namespaced: spec["scope"] === "Namespaced",
    verbs,
    shortNames: texts(names["shortNames"]),
    categories: texts(names["categories"]),
    subresources: subresourcesOf(group, kind, version),
    key: `${group}/${plural}`,
    storage: { group, version: storage, kind },
    custom: version,
    schema() {
      schema ??= crdSchema(version.openAPIV3Schema);
      return schema;
    },
  };
}

function subresourcesOf(group: string, kind: string, version: CustomVersion): readonly ServedSubresource[] {
  return [
    ...(version.hasStatus ? [{ name: "status", group, version: version.name, kind, verbs: subresourceVerbs }] : []),
    ...(version.scale === undefined
      ? []
      : [{ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: subresourceVerbs }]),
  ];
}

function isEstablished(status: JsonObject): boolean {
  const { conditions } = status;
  return (
    Array.isArray(conditions) &&
    conditions.some(
      (condition) => isJsonObject(condition) && condition["type"] === "Established" && condition["status"] === "True",
    )
  );
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
