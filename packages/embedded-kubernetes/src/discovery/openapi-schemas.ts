import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import { typesFile } from "../schema/type-names.ts";

/** What OpenAPI calls the words of `types.json` that it spells otherwise. */
const extensions: Readonly<Record<string, string>> = {
  listType: "x-kubernetes-list-type",
  mapKeys: "x-kubernetes-list-map-keys",
  mapType: "x-kubernetes-map-type",
  patchStrategy: "x-kubernetes-patch-strategy",
  patchMergeKey: "x-kubernetes-patch-merge-key",
};

/** The `components.schemas` of a group version: the types of its kinds and all that they refer to, without prose. */
export function openApiSchemas(resources: readonly Resource[]): JsonObject {
  const schemas: Record<string, Json> = {};
  for (const resource of resources) {
    const { group, version, kind, custom } = resource;
    const gvk = { "x-kubernetes-group-version-kind": [{ group, version, kind }] };
    if (custom === undefined) {
      const name = typesFile.kinds[`${group}/${version}/${kind}`];
      if (name === undefined) continue;
      collect(name, schemas);
      schemas[name] = { ...asObject(schemas[name]), ...gvk };
    } else {
      collect("apis.meta.v1.ObjectMeta", schemas);
      schemas[`${apiVersionOf(resource)}.${kind}`.replaceAll("/", ".")] = {
        ...withIdentity(custom.openAPIV3Schema),
        ...gvk,
      };
    }
  }
  return schemas;
}

function withIdentity(schema: JsonObject): JsonObject {
  const own = {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: reference("apis.meta.v1.ObjectMeta"),
  };
  return { ...schema, properties: { ...asObject(schema["properties"]), ...own } };
}

function collect(name: string, schemas: Record<string, Json>): void {
  if (schemas[name] !== undefined) return;
  const references = new Set<string>();
  schemas[name] = expanded(typesFile.types[name] ?? {}, references);
  for (const other of references) collect(other, schemas);
}

/** One type of `types.json`, where a bare word is a type and `#NAME` a reference, as OpenAPI has it. */
function expanded(type: Json, references: Set<string>): Json {
  if (typeof type === "string") {
    if (!type.startsWith("#")) return { type };
    references.add(type.slice(1));
    return reference(type.slice(1));
  }
  const result: Record<string, Json> = {};
  for (const [word, value] of Object.entries(asObject(type))) {
    if (word === "ref" && typeof value === "string") {
      references.add(value);
      result["allOf"] = [reference(value)];
    } else if (word === "intOrString" || word === "quantity") {
      result["oneOf"] = [{ type: "string" }, { type: word === "quantity" ? "number" : "integer" }];
    } else if (word === "items" || word === "additionalProperties") {
      result[word] = expanded(value, references);
    } else if (word === "properties") {
      const fields = Object.entries(asObject(value));
      result[word] = Object.fromEntries(fields.map(([field, property]) => [field, expanded(property, references)]));
    } else {
      result[extensions[word] ?? word] = value;
    }
  }
  return result;
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
