import type { JsonObject } from "./json.ts";
import { objectOf, objectsOf, textOf, textsOf } from "./json-fields.ts";
import { plainText } from "./plain-text.ts";

/** A LabelSelector or a map of labels as one text, empty if it selects by nothing. */
export function selectorText(selector: JsonObject | undefined): string {
  if (selector === undefined) return "";
  const isLabelSelector = selector["matchLabels"] !== undefined || selector["matchExpressions"] !== undefined;
  const labels = isLabelSelector ? (objectOf(selector, "matchLabels") ?? {}) : selector;
  const texts = [
    ...Object.entries(labels).map(([key, value]) => `${key}=${plainText(value)}`),
    ...objectsOf(selector, "matchExpressions").map(expressionText),
  ].toSorted();
  return texts.join(",");
}

function expressionText(expression: JsonObject): string {
  const key = textOf(expression, "key");
  const values = textsOf(expression, "values").toSorted().join(",");
  switch (textOf(expression, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
}
