import { z } from "zod";
import type { KindDeclaration, KindSchemas } from "../api/kinds/declaration.ts";
import { flaggerGroup } from "../api/names.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/** `flux check`, `flux version` and `flux migrate` find Flux's definitions by them; the version is that of the served API. */
const fluxLabels = {
  "app.kubernetes.io/instance": "flux-system",
  "app.kubernetes.io/part-of": "flux",
  "app.kubernetes.io/version": "v2.9.4",
} as const;

/** The CustomResourceDefinition of a kind, generated from its schemas. All versions have one, so no conversion is needed. */
export async function customResourceDefinition(definition: KindDeclaration): Promise<JsonObject> {
  const { group, kind, plural, shortNames, categories, versions, columns } = definition;
  const [stored] = versions;
  const schemas = await definition.schemas();
  const schema = { openAPIV3Schema: schemaOf(definition, schemas) };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      ...(group === flaggerGroup ? {} : { labels: { ...fluxLabels } }),
      // Variable substitution must never touch the schema's own texts.
      annotations: { "kustomize.toolkit.fluxcd.io/substitute": "disabled" },
    },
    spec: {
      group,
      names: {
        categories: [...categories],
        kind,
        listKind: `${kind}List`,
        plural,
        shortNames: [...shortNames],
        singular: kind.toLowerCase(),
      },
      scope: "Namespaced",
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === stored,
        ...(name === stored ? {} : deprecation(definition, name)),
        additionalPrinterColumns: columns.map((column) => ({ ...column })),
        schema: structuredClone(schema),
        subresources: schemas.status === undefined ? {} : { status: {} },
      })),
    },
  };
}

function deprecation({ group, kind, versions: [stored] }: KindDeclaration, version: string): JsonObject {
  return {
    deprecated: true,
    deprecationWarning: `${group}/${version} ${kind} is deprecated, write ${group}/${stored} instead`,
  };
}

function schemaOf({ group, kind, description }: KindDeclaration, { spec, status }: KindSchemas): JsonObject {
  // The API server names missing fields in the order of the definition: Flux's are sorted, Flagger's are not.
  const isSorted = group !== flaggerGroup;
  return {
    description,
    type: "object",
    properties: {
      apiVersion: { description: "Group and version of this object.", type: "string" },
      kind: { description: "Kind of this object.", type: "string" },
      metadata: { type: "object" },
      spec: { description: `What the ${kind} should do.`, ...structural(spec, isSorted) },
      ...(status === undefined ? {} : { status: statusSchemaOf(kind, structural(status, isSorted)) }),
    },
  };
}

function statusSchemaOf(kind: string, schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) throw new TypeError("the status of a kind must have fields");
  return {
    description: `How the ${kind} is doing.`,
    // A default must not have a field that the schema does not have.
    ...("observedGeneration" in properties ? { default: { observedGeneration: -1 } } : {}),
    ...schema,
  };
}

/** A structural OpenAPI schema of the input that the API accepts, so without the values that defaults fill in. */
function structural(schema: z.ZodType, isSorted: boolean): JsonObject {
  const json = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === "integer") asInt64(jsonSchema);
      if (isSorted) jsonSchema.required?.sort();
      // A slash is escaped in JavaScript's notation only. In pairs, since the backslash before a slash may be an escaped one.
      if (jsonSchema.pattern !== undefined) jsonSchema.pattern = jsonSchema.pattern.replaceAll(/\\(.)/g, withoutEscape);
    },
  });
  const plain: unknown = JSON.parse(JSON.stringify(json));
  if (!isJsonObject(plain)) throw new TypeError("a kind's schema must be an object");
  return plain;
}

function withoutEscape(pair: string, escaped: string): string {
  return escaped === "/" ? escaped : pair;
}

/** Whole numbers are int64 in Kubernetes; the bounds that JSON Schema gives them are JavaScript's. */
function asInt64(schema: z.core.JSONSchema.BaseSchema): void {
  schema.format = "int64";
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
