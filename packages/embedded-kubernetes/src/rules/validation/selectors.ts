import { forbidden, invalidValue, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { itemsOf, objectOf, objectsOf, textOf, textsOf } from "../../core/json-fields.ts";
import { type Errors, each, named, none } from "./checks.ts";
import { labelErrors } from "./metadata.ts";
import { labelValue, qualifiedName } from "./name-rules.ts";

/** `ValidateLabelSelector`: labels by name and value, expressions by their operator. */
export function selectorErrors(selector: JsonObject | undefined, path: string): Errors {
  if (selector === undefined) return none;
  return [
    ...labelErrors(objectOf(selector, "matchLabels"), `${path}.matchLabels`),
    ...each(objectsOf(selector, "matchExpressions"), `${path}.matchExpressions`, expressionErrors),
  ];
}

function expressionErrors(expression: JsonObject, path: string): Errors {
  const values = textsOf(expression, "values");
  return [
    ...operatorErrors(textOf(expression, "operator"), values.length, path),
    ...named(`${path}.key`, textOf(expression, "key"), qualifiedName),
    ...each(values, `${path}.values`, (value, at) => named(at, value, labelValue)),
  ];
}

function operatorErrors(operator: string, valueCount: number, path: string): Errors {
  switch (operator) {
    case "In":
    case "NotIn":
      return valueCount === 0
        ? [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")]
        : none;
    case "Exists":
    case "DoesNotExist":
      return valueCount > 0
        ? [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")]
        : none;
    default:
      return [invalidValue(`${path}.operator`, operator, "not a valid selector operator")];
  }
}

export function isEmptySelector(selector: JsonObject): boolean {
  return (
    Object.keys(objectOf(selector, "matchLabels") ?? {}).length + itemsOf(selector, "matchExpressions").length === 0
  );
}

/** Whether labels match; no selector at all matches nothing, an empty one everything. */
export function selectorMatches(selector: JsonObject | undefined, labels: JsonObject | undefined): boolean {
  if (selector === undefined) return false;
  const byLabel = Object.entries(objectOf(selector, "matchLabels") ?? {}).every(
    ([key, value]) => labels?.[key] === value,
  );
  return (
    byLabel && objectsOf(selector, "matchExpressions").every((expression) => expressionMatches(expression, labels))
  );
}

function expressionMatches(expression: JsonObject, labels: JsonObject | undefined): boolean {
  const value = labels?.[textOf(expression, "key")];
  const isListed = typeof value === "string" && textsOf(expression, "values").includes(value);
  switch (textOf(expression, "operator")) {
    case "In":
      return isListed;
    case "NotIn":
      return !isListed;
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return false;
  }
}

const nodeOperators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];

/** Expressions of node affinity know `Gt` and `Lt` besides. */
export function nodeExpressionErrors(expression: JsonObject, path: string): Errors {
  const operator = textOf(expression, "operator");
  const count = itemsOf(expression, "values").length;
  const operators =
    operator === "Gt" || operator === "Lt"
      ? count === 1
        ? none
        : [required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'")]
      : nodeOperators.includes(operator)
        ? operatorErrors(operator, count, path)
        : [invalidValue(`${path}.operator`, operator, "not a valid selector operator")];
  return [...operators, ...named(`${path}.key`, textOf(expression, "key"), qualifiedName)];
}
