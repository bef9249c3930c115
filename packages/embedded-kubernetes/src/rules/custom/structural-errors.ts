import type { FieldError } from "../../core/api-object.ts";
import { forbidden, invalidValue, notSupported, required } from "../../core/field-errors.ts";
import { patternProblem } from "../../core/go-pattern.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { CelFailure } from "../cel/cel-failure.ts";
import { parse } from "../cel/parse.ts";

type Errors = readonly FieldError[];

const types = ["array", "boolean", "integer", "number", "object", "string"];

/** What makes a schema structural: every value has a type, the root is an object, list-maps name their keys. */
export function structuralErrors(schema: JsonObject, path: string): Errors {
  const type = textOf(schema, "type");
  const root =
    type === "object"
      ? []
      : type === ""
        ? [required(`${path}.type`, "must not be empty at the root")]
        : [invalidValue(`${path}.type`, type, "must be object at the root")];
  return [...root, ...schemaErrors(schema, path, true)];
}

function schemaErrors(schema: JsonObject, path: string, isRoot: boolean): Errors {
  const type = textOf(schema, "type");
  const isOpen =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  return [
    ...(type === "" && !isOpen && !isRoot ? [required(`${path}.type`, missingType(path))] : []),
    ...(type === "" || types.includes(type) ? [] : [notSupported(`${path}.type`, type, types)]),
    ...(schema["x-kubernetes-int-or-string"] === true && type !== ""
      ? [forbidden(`${path}.type`, "must be empty if x-kubernetes-int-or-string is true")]
      : []),
    ...listTypeErrors(schema, type, path),
    ...ruleErrors(schema, path),
    ...patternErrors(schema, path),
    ...(type === "array" && objectOf(schema, "items") === undefined
      ? [required(`${path}.items`, "must be specified")]
      : []),
    ...innerErrors(schema, path),
  ];
}

function missingType(path: string): string {
  return path.endsWith(".items")
    ? "must not be empty for specified array items"
    : "must not be empty for specified object fields";
}

function innerErrors(schema: JsonObject, path: string): Errors {
  const properties = objectOf(schema, "properties") ?? {};
  const items = objectOf(schema, "items");
  const additional = objectOf(schema, "additionalProperties");
  return [
    ...(Object.keys(properties).length > 0 && additional !== undefined
      ? [forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive")]
      : []),
    ...(items === undefined ? [] : schemaErrors(items, `${path}.items`, false)),
    ...(additional === undefined ? [] : schemaErrors(additional, `${path}.additionalProperties`, false)),
    ...Object.keys(properties)
      .toSorted()
      .flatMap((name) => {
        const property = properties[name];
        return isJsonObject(property) ? schemaErrors(property, `${path}.properties[${name}]`, false) : [];
      }),
  ];
}

function listTypeErrors(schema: JsonObject, type: string, path: string): Errors {
  const listType = textOf(schema, "x-kubernetes-list-type");
  const keys = textsOf(schema, "x-kubernetes-list-map-keys");
  const mapType = textOf(schema, "x-kubernetes-map-type");
  return [
    ...(listType !== "" && type !== "array"
      ? [invalidValue(`${path}.type`, type, "must be array if x-kubernetes-list-type is specified")]
      : []),
    ...(listType === "" || ["atomic", "set", "map"].includes(listType)
      ? []
      : [notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"])]),
    ...(listType === "map" && keys.length === 0
      ? [required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map")]
      : []),
    ...(mapType === "" || ["atomic", "granular"].includes(mapType)
      ? []
      : [notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"])]),
  ];
}

function ruleErrors(schema: JsonObject, path: string): Errors {
  return objectsOf(schema, "x-kubernetes-validations").flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const expression = textOf(rule, "rule");
    if (expression.trim() === "") return [required(`${at}.rule`, "rule is not specified")];
    const problem = syntaxProblem(expression);
    return problem === undefined ? [] : [invalidValue(`${at}.rule`, expression, `compilation failed: ${problem}`)];
  });
}

function patternErrors(schema: JsonObject, path: string): Errors {
  const pattern = textOf(schema, "pattern");
  const problem = pattern === "" ? undefined : patternProblem(pattern);
  return problem === undefined
    ? []
    : [invalidValue(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`)];
}

function syntaxProblem(expression: string): string | undefined {
  try {
    parse(expression);
    return undefined;
  } catch (error) {
    if (error instanceof CelFailure) return error.message;
    throw error;
  }
}
