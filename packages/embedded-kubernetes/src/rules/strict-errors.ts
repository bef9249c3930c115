import type { TypeSchema } from "../schema/type-schema.ts";

/** A JSON text being read, with the errors found so far. */
interface Reader {
  readonly text: string;
  at: number;
  readonly errors: string[];
}

const identityFields = new Set(["apiVersion", "kind", "metadata"]);

/**
 * What strict decoding finds in a JSON text: `unknown field "spec.x"` and `duplicate field "data.k"`, in the order of
 * the text. They are warnings or, with `fieldValidation=Strict`, joined by `, ` after `strict decoding error: `.
 * `text` must parse as JSON.
 */
export function strictErrors(text: string, schema: TypeSchema): readonly string[] {
  const reader: Reader = { text, at: 0, errors: [] };
  readValue(reader, schema, "", true);
  return reader.errors;
}

/** Reads one value. Without a schema nothing inside is unknown, only duplicates are looked for. */
function readValue(reader: Reader, schema: TypeSchema | undefined, path: string, isResource: boolean): void {
  skipSpace(reader);
  const first = reader.text[reader.at];
  if (first === "{") readObject(reader, schema, path, isResource);
  else if (first === "[") readList(reader, schema, path);
  else if (first === '"') readString(reader);
  else reader.at = endOf(reader, /[\s,\]}]|$/g);
}

function readObject(reader: Reader, schema: TypeSchema | undefined, path: string, isResource: boolean): void {
  const seen = new Set<string>();
  reader.at += 1;
  for (;;) {
    skipSpace(reader);
    const next = reader.text[reader.at];
    if (next === ",") {
      reader.at += 1;
    } else if (next === '"') {
      readField(reader, schema, path, isResource, seen);
    } else {
      reader.at += 1;
      return;
    }
  }
}

function readField(
  reader: Reader,
  schema: TypeSchema | undefined,
  path: string,
  isResource: boolean,
  seen: Set<string>,
): void {
  const field = readString(reader);
  skipSpace(reader);
  reader.at += 1;
  const fieldPath = path === "" ? field : `${path}.${field}`;
  if (seen.has(field)) report(reader, `duplicate field "${fieldPath}"`);
  seen.add(field);

  const { isKnown, value } = fieldSchema(schema, field, isResource);
  if (!isKnown) report(reader, `unknown field "${fieldPath}"`);
  readValue(reader, value, fieldPath, value?.embeddedResource === true);
}

function fieldSchema(
  schema: TypeSchema | undefined,
  field: string,
  isResource: boolean,
): { readonly isKnown: boolean; readonly value: TypeSchema | undefined } {
  const value = schema?.properties?.[field] ?? schema?.additionalProperties;
  const isOpen = schema === undefined || schema.preserveUnknown === true || schema.intOrString === true;
  const hasFields = schema?.properties !== undefined || schema?.additionalProperties !== undefined;
  return { isKnown: value !== undefined || isOpen || !hasFields || (isResource && identityFields.has(field)), value };
}

function readList(reader: Reader, schema: TypeSchema | undefined, path: string): void {
  let index = 0;
  reader.at += 1;
  for (;;) {
    skipSpace(reader);
    const next = reader.text[reader.at];
    if (next === "]" || next === undefined) {
      reader.at += 1;
      return;
    }
    if (next === ",") {
      reader.at += 1;
      continue;
    }
    readValue(reader, schema?.items, `${path}[${index}]`, schema?.items?.embeddedResource === true);
    index += 1;
  }
}

function readString(reader: Reader): string {
  const start = reader.at;
  reader.at += 1;
  while (reader.at < reader.text.length && reader.text[reader.at] !== '"') {
    reader.at += reader.text[reader.at] === "\\" ? 2 : 1;
  }
  reader.at += 1;
  const literal = reader.text.slice(start, reader.at);
  return literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

function skipSpace(reader: Reader): void {
  reader.at = endOf(reader, /[^\s]|$/g);
}

function endOf(reader: Reader, pattern: RegExp): number {
  pattern.lastIndex = reader.at;
  return pattern.exec(reader.text)?.index ?? reader.text.length;
}

/** Each error is said once, as a real server does. */
function report(reader: Reader, error: string): void {
  if (!reader.errors.includes(error)) reader.errors.push(error);
}
