import type { JsonObject } from "./json.ts";

/** A requirement as `metav1.LabelSelector` has it in `matchExpressions`. */
type Requirement = JsonObject & {
  readonly key: string;
  readonly operator: "DoesNotExist" | "Exists" | "In" | "NotIn";
};

const part = "[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?";
const key = `(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?${part}`;
const exists = new RegExp(`^(!?)\\s*(${key})$`);
const equals = new RegExp(`^(${key})\\s*(==?|!=)\\s*((?:${part})?)$`);
const among = new RegExp(`^(${key})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const value = new RegExp(`^(?:${part})?$`);

/**
 * Reads a label selector in the notation of the API and of kubectl, `app=web,tier in (a, b),!old`, as the requirements that an object has
 * to fulfil. Undefined for invalid text, and for an empty one, which would select everything.
 */
export function parseLabelSelector(text: string): readonly Requirement[] | undefined {
  const requirements = text.split(/,(?![^()]*\))/).map((each) => requirementOf(each.trim()));
  return requirements.every((each) => each !== undefined) ? requirements : undefined;
}

function requirementOf(text: string): Requirement | undefined {
  const [, not, label] = exists.exec(text) ?? [];
  if (label !== undefined) return { key: label, operator: not === "!" ? "DoesNotExist" : "Exists" };
  const [, compared, sign, wanted = ""] = equals.exec(text) ?? [];
  if (compared !== undefined) return { key: compared, operator: sign === "!=" ? "NotIn" : "In", values: [wanted] };
  const [, listed, word, list = ""] = among.exec(text) ?? [];
  if (listed === undefined) return undefined;
  const values = list.split(",").map((each) => each.trim());
  if (!values.every((each) => value.test(each))) return undefined;
  return { key: listed, operator: word === "in" ? "In" : "NotIn", values };
}
