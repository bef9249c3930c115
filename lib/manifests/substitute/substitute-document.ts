import { someOf } from "../../core/cut-text.ts";
import { formatJson, type JsonObject } from "../../core/json.ts";
import { goYamlText } from "../go-yaml/emit.ts";
import { parseOutput } from "../parse-output.ts";
import { maxSubstitutedBytes, substituteText } from "./evaluate.ts";
import { OutOfSteps, StepBudget } from "./step-budget.ts";
import { TemplateError, variablesIn } from "./template.ts";

/** An object as kustomize prints it, and what its expressions may name. */
export interface DocumentTemplate {
  readonly source: string;
  readonly variables: ReadonlyMap<string, string>;
  /** Whether a variable that is not there is an error. */
  readonly strict: boolean;
  /** Variables whose value is no text. */
  readonly notText: ReadonlySet<string>;
  readonly maxSteps: number;
  /** Above that, before or after its variables are replaced, it is `large`. Default: {@link maxSubstitutedBytes}, beyond which it is a fault. */
  readonly maxBytes?: number;
}

/** Plain data, so that it can come from another thread. `steps`: those that it took. */
export type SubstitutedDocument =
  | { readonly kind: "unchanged"; readonly steps: number }
  /** `text`: as kustomize would print it. */
  | { readonly kind: "changed"; readonly object: JsonObject; readonly text: string; readonly steps: number }
  /** `at`: where the expression at fault begins, if it is one, in UTF-16 units. */
  | { readonly kind: "fault"; readonly why: string; readonly at?: number }
  | { readonly kind: "outOfSteps" }
  | { readonly kind: "large" };

/** The object with its variables replaced, read again: a value may be of another type afterwards. */
export function substituteDocument(template: DocumentTemplate): SubstitutedDocument {
  const { source, variables, strict, notText, maxSteps, maxBytes = maxSubstitutedBytes } = template;
  if (source.length > maxBytes && maxBytes < maxSubstitutedBytes) return { kind: "large" };
  const budget = new StepBudget(maxSteps);
  try {
    const substituted = substituteText(source, variables, { strict, budget });
    if (substituted === source) return { kind: "unchanged", steps: budget.spent };
    const names = variablesIn(source);
    // As Flux's parser says it of what the values make.
    if (names.some((name) => notText.has(name))) return unreadable("yaml: invalid leading UTF-8 octet");
    if (substituted.length > maxBytes) return { kind: "large" };
    return readAgain(substituted, names, budget.spent);
  } catch (error) {
    if (error instanceof OutOfSteps) return { kind: "outOfSteps" };
    if (!(error instanceof TemplateError)) throw error;
    return { kind: "fault", why: `variable substitution failed: ${error.message}`, at: error.at };
  }
}

function readAgain(text: string, names: readonly string[], steps: number): SubstitutedDocument {
  const parsed = parseOutput(text, `the object with the values of ${someOf(names)}`);
  if (parsed.kind === "unacceptable") return unreadable(parsed.why);
  const [object] = parsed.objects;
  if (object === undefined || parsed.objects.length > 1) {
    return unreadable("with its values it is no longer a single object");
  }
  return { kind: "changed", object, text: goYamlText(object) ?? `${formatJson(object)}\n`, steps };
}

function unreadable(why: string): SubstitutedDocument {
  return { kind: "fault", why: `YAMLToJSON: ${why}` };
}
