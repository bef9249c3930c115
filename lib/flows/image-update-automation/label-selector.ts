import type { ImageUpdateAutomationSpec } from "../../api/image-update-automation.ts";
import { type LabelQuery, labelKeyProblems, labelValueProblem } from "../../core/label-query.ts";

type LabelSelector = ImageUpdateAutomationSpec["policySelector"] & {};
type Operator = "DoesNotExist" | "Exists" | "In" | "NotIn";

/** The fault of an invalid `metav1.LabelSelector`, in the words of Kubernetes' `LabelSelectorAsSelector`. */
export class SelectorFault extends RangeError {}

/** The labels that a `metav1.LabelSelector` selects; an empty one selects everything. Throws a {@link SelectorFault}. */
export function selectorOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelQuery {
  const requirements = [
    ...Object.entries(matchLabels).map(([key, value]) => requirement(key, "In", [value])),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      if (isOperator(operator)) return requirement(key, operator, values);
      throw new SelectorFault(`${JSON.stringify(operator)} is not a valid label selector operator`);
    }),
  ];
  return (labels) => requirements.every((each) => each(labels));
}

function isOperator(text: string): text is Operator {
  return text === "In" || text === "NotIn" || text === "Exists" || text === "DoesNotExist";
}

function requirement(key: string, operator: Operator, values: readonly string[]): LabelQuery {
  const faults = [
    ...keyFaults(key),
    ...countFaults(operator, values),
    ...values.flatMap((value, index) => {
      const problem = labelValueProblem(value);
      return problem === undefined ? [] : [invalid(`values[${index}][${key}]`, value, problem)];
    }),
  ];
  const [first, ...others] = faults;
  if (first !== undefined) throw new SelectorFault(others.length === 0 ? first : `[${faults.join(", ")}]`);
  const held = (labels: Readonly<Record<string, string>>) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const wanted = new Set<string | undefined>(values);
  switch (operator) {
    case "In":
      return (labels) => wanted.has(held(labels));
    case "NotIn":
      return (labels) => !wanted.has(held(labels));
    case "Exists":
      return (labels) => held(labels) !== undefined;
    case "DoesNotExist":
      return (labels) => held(labels) === undefined;
  }
}

function keyFaults(key: string): readonly string[] {
  const problems = labelKeyProblems(key);
  return problems.length === 0 ? [] : [invalid("key", key, problems.join("; "))];
}

function countFaults(operator: Operator, values: readonly string[]): readonly string[] {
  const isSet = operator === "In" || operator === "NotIn";
  // Go's empty list is null.
  if (isSet && values.length === 0) {
    return [invalid("values", null, "for 'in', 'notin' operators, values set can't be empty")];
  }
  if (isSet || values.length === 0) return [];
  return [invalid("values", values, "values set must be empty for exists and does not exist")];
}

function invalid(field: string, value: unknown, why: string): string {
  return `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`;
}
