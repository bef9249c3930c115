import type { Json } from "../../../lib/core/json.ts";
import type { TypeSchema } from "../../../packages/embedded-kubernetes/src/schema/type-schema.ts";
import type { Random } from "../../unit/queue/simulator/random.ts";
import { pick } from "./choice.ts";

/** Text that some fields accept and others refuse. */
export const awkwardTexts: readonly string[] = [
  "", "a", "web", "Bad_Name", "x".repeat(64), "a b", "-a", "a.b", "a/b", "0", "80", "100%", "150%", "-5%", "5x", "10m", "1Gi", "1.5", "-1",
  "http", "Always", "Never", "IfNotPresent", "OnFailure", "TCP", "SCTP", "UDP", "None", "ClientIP", "Recreate", "RollingUpdate", "OnDelete",
  "NodePort", "LoadBalancer", "ExternalName", "ClusterIP", "Local", "Exact", "Retain", "Delete", "ReadWriteMany", "Unconfined", "RuntimeDefault",
  "/path", "../x", "path/", "é", "a.example.com", "*.example.com", "A.example.com", "10.0.0.0/8", "10.0.0.1", "300.1.1.1", "::1",
  "Exists", "Equal", "In", "NoSchedule", "NoExecute", "Memory", "default", "true", "2024-01-01T00:00:00Z", "YWJj", "not base64!", "* * * * *", "61 * * * *", "@daily",
]; // biome-ignore format: a table of words
export const awkwardNumbers: readonly number[] = [0, 1, -1, 2, 3, 100, 65_535, 65_536, 80, 2_147_483_648, 1.5];
const intsOrTexts: readonly Json[] = [1, 0, -1, 65_536, "50%", "101%", "x", "http", "a--b", "", "-5%"];
const quantities: readonly Json[] = [
  "1",
  "100m",
  "1Gi",
  "0.5",
  2,
  "1e3",
  "-1",
  "x",
  "1.0001",
  "1000000Ki",
  "0",
  "100m",
];

/** A value of the type, mostly a plausible one. */
export function generateValue(chance: Random, schema: TypeSchema, depth = 0): Json {
  if (schema.intOrString === true) return pick(chance, intsOrTexts);
  if (schema.quantity === true) return pick(chance, quantities);
  if (schema.enum !== undefined && chance.chance(0.8)) return pick(chance, schema.enum);
  switch (schema.type) {
    case "string":
      return generateText(chance, schema.format);
    case "integer":
      return chance.chance(0.5) ? chance.int(1, 100) : pick(chance, awkwardNumbers);
    case "number":
      return pick(chance, awkwardNumbers);
    case "boolean":
      return chance.chance(0.5);
    case "array": {
      const { items } = schema;
      if (items === undefined || depth > 5) return [];
      return Array.from({ length: chance.int(1, 2) }, () => generateValue(chance, items, depth + 1));
    }
    case "object":
    case undefined:
      break;
  }
  return generateObject(chance, schema, depth);
}

function generateText(chance: Random, format: string | undefined): string {
  if (format === "byte") return pick(chance, ["YWJj", "", "not base64!"]);
  if (format === "date-time") return pick(chance, ["2024-01-01T00:00:00Z", "2024-01-01T02:00:00.5+02:00", "soon"]);
  return chance.chance(0.4) ? pick(chance, ["a", "b", "web"]) : pick(chance, awkwardTexts);
}

function generateObject(
  chance: Random,
  { properties, additionalProperties, required = [] }: TypeSchema,
  depth: number,
): Json {
  if (depth > 5) return {};
  if (properties === undefined) {
    if (additionalProperties === undefined) return {};
    return {
      [pick(chance, ["a", "cpu", "x/y", "Bad Key", "memory"])]: generateValue(chance, additionalProperties, depth + 1),
    };
  }
  const fields = Object.keys(properties).toSorted();
  const share = Math.min(0.5, 2 / Math.max(fields.length, 1));
  return Object.fromEntries(
    fields.flatMap((field): [string, Json][] => {
      const schema = properties[field];
      const isWanted = chance.chance(required.includes(field) ? 0.9 : share);
      return schema === undefined || !isWanted ? [] : [[field, generateValue(chance, schema, depth + 1)]];
    }),
  );
}
