import { z } from "zod";
import { isJsonObject, type JsonObject } from "../lib/core/json.ts";

/** A kind of ours as its CustomResourceDefinition needs it. */
export interface KindDefinition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  /** The first is stored; all are served with one schema, so that no conversion is needed. */
  readonly versions: readonly [string, ...string[]];
  readonly columns: readonly Column[];
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
}

export interface Column {
  readonly name: string;
  readonly type: "string" | "date";
  readonly jsonPath: string;
}

/** By these `flux check`, `flux version` and `flux migrate` find definitions; the version is that of the API that is served. */
const fluxLabels = {
  "app.kubernetes.io/instance": "flux-system",
  "app.kubernetes.io/part-of": "flux",
  "app.kubernetes.io/version": "v2.9.4",
} as const;

/** The CustomResourceDefinition of a kind, generated from its schemas. */
export function customResourceDefinition(definition: KindDefinition): JsonObject {
  const { group, kind, plural, shortNames, categories, versions, columns } = definition;
  const [stored] = versions;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      labels: { ...fluxLabels },
      // Variable substitution must never touch the schema's own texts.
      annotations: { "kustomize.toolkit.fluxcd.io/substitute": "disabled" },
    },
    spec: {
      group,
      names: { categories, kind, listKind: `${kind}List`, plural, shortNames, singular: kind.toLowerCase() },
      scope: "Namespaced",
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === stored,
        ...(name === stored ? {} : deprecation(definition, name)),
        additionalPrinterColumns: columns.map((column) => ({ ...column })),
        schema: { openAPIV3Schema: schemaOf(definition) },
        subresources: { status: {} },
      })),
    },
  };
}

function deprecation({ group, kind, versions: [stored] }: KindDefinition, version: string): JsonObject {
  return {
    deprecated: true,
    deprecationWarning: `${group}/${version} ${kind} is deprecated, write ${group}/${stored} instead`,
  };
}

function schemaOf({ kind, description, spec, status }: KindDefinition): JsonObject {
  return {
    description,
    type: "object",
    properties: {
      apiVersion: { description: "Group and version of this object.", type: "string" },
      kind: { description: "Kind of this object.", type: "string" },
      metadata: { type: "object" },
      spec: { description: `What the ${kind} should do.`, ...structural(spec) },
      status: {
        description: `How the ${kind} is doing.`,
        default: { observedGeneration: -1 },
        ...structural(status),
      },
    },
  };
}

/** A structural OpenAPI schema of what the API accepts, so without the values that defaults fill in. */
function structural(schema: z.ZodType): JsonObject {
  const json = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === "integer") asInt64(jsonSchema);
      // A slash is escaped in JavaScript's notation only.
      if (jsonSchema.pattern !== undefined) jsonSchema.pattern = jsonSchema.pattern.replaceAll("\\/", "/");
    },
  });
  const plain: unknown = JSON.parse(JSON.stringify(json));
  if (!isJsonObject(plain)) throw new TypeError("a kind's schema must be an object");
  return plain;
}

/** Whole numbers are int64 in Kubernetes; the bounds that a JSON Schema gives every one of them are JavaScript's. */
function asInt64(schema: z.core.JSONSchema.BaseSchema): void {
  schema.format = "int64";
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
