import type { FieldError } from "../../core/api-object.ts";
import { duplicate, forbidden, invalidValue, required } from "../../core/field-errors.ts";
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isList, textOf } from "../../core/json-fields.ts";
import type { TypeSchema } from "../../schema/type-schema.ts";
import { CelFailure } from "./cel-failure.ts";
import type { CelValue } from "./cel-value.ts";
import { evaluate } from "./evaluate.ts";
import { type Expression, parse } from "./parse.ts";

type Errors = readonly FieldError[];

/** Rules are few and are asked for again with every write, so each is parsed once; a full table is begun anew. */
const parsedRules = new Map<string, Expression>();
const maxParsedRules = 2000;

/** The `x-kubernetes-validations` that fail, parents before their fields. */
export function celErrors(value: Json, old: Json | undefined, schema: TypeSchema, path = ""): Errors {
  const own = (schema.validations ?? []).flatMap((rule) =>
    isJsonObject(rule) ? ruleErrors(rule, value, old, path) : [],
  );
  return [...own, ...innerErrors(value, old, schema, path)];
}

function innerErrors(value: Json, old: Json | undefined, schema: TypeSchema, path: string): Errors {
  if (isList(value)) {
    const { items } = schema;
    return items === undefined
      ? []
      : value.flatMap((item, index) => celErrors(item, formerItem(item, old, schema), items, `${path}[${index}]`));
  }
  if (!isJsonObject(value)) return [];
  const { properties = {}, additionalProperties } = schema;
  return Object.keys(value)
    .toSorted()
    .flatMap((field) => {
      const property = properties[field] ?? additionalProperties;
      const item = value[field];
      if (property === undefined || item === undefined || item === null) return [];
      const key = properties[field] === undefined ? `${path}[${field}]` : joined(path, field);
      return celErrors(item, isJsonObject(old) ? old[field] : undefined, property, key);
    });
}

function joined(path: string, field: string): string {
  return path === "" ? field : `${path}.${field}`;
}

/** Only items of a list-map have a former self; in other lists it is not known which one it was. */
function formerItem(item: Json, old: Json | undefined, { listType, mapKeys = [] }: TypeSchema): Json | undefined {
  if (listType !== "map" || old === undefined || !isList(old) || !isJsonObject(item)) return undefined;
  const keyOf = (object: JsonObject): string => canonicalJson(mapKeys.map((key) => object[key] ?? null));
  return old.find((former) => isJsonObject(former) && keyOf(former) === keyOf(item));
}

function ruleErrors(rule: JsonObject, value: Json, old: Json | undefined, path: string): Errors {
  const expression = textOf(rule, "rule");
  const isTransition = /\boldSelf\b/.test(expression);
  if (isTransition && old === undefined) return [];
  const variables = new Map<string, CelValue>([
    ["self", value],
    ...(old === undefined ? [] : [["oldSelf", old] as const]),
  ]);
  try {
    if (evaluate(parsed(expression), variables) === true) return [];
  } catch (error) {
    if (!(error instanceof CelFailure)) throw error;
    return [invalidAt(path, value, `${error.message} evaluating rule: ${messageOf(rule)}`)];
  }
  return [refusal(rule, value, `${path}${textOf(rule, "fieldPath")}`.replace(/^\./, ""), expressed(rule, variables))];
}

function parsed(expression: string): Expression {
  const known = parsedRules.get(expression);
  if (known !== undefined) return known;
  if (parsedRules.size >= maxParsedRules) parsedRules.clear();
  const tree = parse(expression);
  parsedRules.set(expression, tree);
  return tree;
}

/** The message that the rule computes, else the one it has, else the rule itself. */
function expressed(rule: JsonObject, variables: ReadonlyMap<string, CelValue>): string {
  const expression = textOf(rule, "messageExpression");
  if (expression === "") return messageOf(rule);
  try {
    const text = evaluate(parsed(expression), variables);
    return typeof text === "string" && text.trim() !== "" && !text.includes("\n") ? text.trim() : messageOf(rule);
  } catch (error) {
    if (error instanceof CelFailure) return messageOf(rule); // the server falls back in the same way
    throw error;
  }
}

function messageOf(rule: JsonObject): string {
  return textOf(rule, "message").trim() || `failed rule: ${textOf(rule, "rule").trim()}`;
}

function refusal(rule: JsonObject, value: Json, path: string, message: string): FieldError {
  switch (textOf(rule, "reason")) {
    case "FieldValueForbidden":
      return forbidden(path, message);
    case "FieldValueRequired":
      return required(path, message);
    case "FieldValueDuplicate":
      return duplicate(path, isJsonObject(value) ? "object" : value);
    default:
      return invalidAt(path, value, message);
  }
}

/** Objects and lists are not printed. */
function invalidAt(path: string, value: Json, message: string): FieldError {
  if (!isJsonObject(value) && !isList(value)) return invalidValue(path, value, message);
  return { reason: "FieldValueInvalid", field: path, message: `Invalid value: ${message}` };
}
