import { readFileSync } from "node:fs";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { TypeSchema } from "./type-schema.ts";

/** `types.json` as `generate-types.ts` writes it. */
export interface TypesFile {
  readonly serverVersion: string;
  readonly groups: readonly {
    readonly name: string;
    readonly preferred: string;
    readonly versions: readonly string[];
  }[];
  readonly resources: JsonObject;
  /** The type's name by `GROUP/VERSION/KIND`. */
  readonly kinds: { readonly [gvk: string]: string };
  readonly types: JsonObject;
  /** By the type's name and field, how Go declares the field; see `read-go-types.ts`. */
  readonly goTypes: JsonObject;
}

function isTypesFile(value: unknown): value is TypesFile {
  return (
    isJsonObject(value) &&
    isJsonObject(value["types"]) &&
    isJsonObject(value["goTypes"]) &&
    isJsonObject(value["kinds"]) &&
    isJsonObject(value["resources"])
  );
}

function readTypes(): TypesFile {
  const file: unknown = JSON.parse(readFileSync(new URL("types.json", import.meta.url), "utf8"));
  if (!isTypesFile(file)) throw new TypeError("types.json is not as generate-types.ts writes it");
  return file;
}

/** Read once: everything the server knows of the built-in kinds. */
export const typesFile = readTypes();

const resolved = new Map<string, TypeSchema>();

/** The built-in type of that name, `core.v1.PodSpec`. Types it refers to are resolved when they are first read. */
export function namedType(name: string): TypeSchema {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const raw = typesFile.types[name];
  if (raw === undefined) throw new TypeError(`types.json has no type ${name}`);
  const schema = { ...typeOf(raw), goType: name };
  resolved.set(name, schema);
  return schema;
}

function typeOf(raw: Json): TypeSchema {
  if (typeof raw === "string") return raw.startsWith("#") ? namedType(raw.slice(1)) : plainType(raw);
  if (!isJsonObject(raw)) throw new TypeError("types.json holds a type that is not an object");
  const { ref, properties, items, additionalProperties, ...words } = raw;
  return {
    ...(typeof ref === "string" ? namedType(ref) : {}),
    ...words,
    ...(isJsonObject(properties) ? { properties: lazyProperties(properties) } : {}),
    ...(items === undefined ? {} : { items: typeOf(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: typeOf(additionalProperties) }),
  };
}

const plainTypes = new Map<string, TypeSchema>();

/** One object for all fields that are just a string, or an integer. */
function plainType(type: string): TypeSchema {
  const known = plainTypes.get(type);
  if (known !== undefined) return known;
  const schema = typeOf({ type });
  plainTypes.set(type, schema);
  return schema;
}

/** Each property resolves at its first reading, so that recursive types end and unused ones cost nothing. */
function lazyProperties(properties: JsonObject): { readonly [field: string]: TypeSchema } {
  const record: { [field: string]: TypeSchema } = {};
  for (const [field, raw] of Object.entries(properties)) {
    Object.defineProperty(record, field, {
      enumerable: true,
      configurable: true,
      get: () => {
        const value = typeOf(raw);
        Object.defineProperty(record, field, { enumerable: true, value });
        return value;
      },
    });
  }
  return record;
}
