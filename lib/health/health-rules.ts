import { type Cel, CelFault, type CelHealth, type CelHealthRule } from "../cel/cel.ts";
import { Failure } from "../core/failure.ts";
import { type ObjectRef, parseApiVersion } from "../core/object-ref.ts";
import { Outage } from "../core/ports/outage.ts";

/** An entry of `spec.healthCheckExprs`. */
export interface HealthCheckExpression extends CelHealthRule {
  /** Only its group counts. */
  readonly apiVersion: string;
  /** Absent or empty: every kind of the group. */
  readonly kind?: string;
}

/** The health rules of a Kustomization. Where there is one for a kind, it takes the place of all built-in rules. */
export interface HealthRules {
  ruleOf(ref: Pick<ObjectRef, "group" | "kind">): CelHealth | undefined;
  /** Whether Sluice does not reconcile this kind, although it is one of Flux or Flagger. */
  isUnreconciled(ref: Pick<ObjectRef, "group" | "kind">): boolean;
}

/**
 * Parses the rules, in Flux's order and with its messages (reference 3.17).
 *
 * @throws Failure of reason `InvalidCELExpression`; an {@link Outage} if CEL cannot be asked
 */
export async function parseHealthRules(
  entries: readonly HealthCheckExpression[],
  { cel, isUnreconciled }: { readonly cel: Pick<Cel, "compileHealth"> } & Pick<HealthRules, "isUnreconciled">,
  signal: AbortSignal,
): Promise<HealthRules> {
  const rules = new Map<string, CelHealth>();
  for (const [index, entry] of entries.entries()) {
    const { group, kind } = groupKind(entry);
    const key = keyOf(group, kind);
    if (rules.has(key)) {
      const name = group === "" ? kind : `${kind}.${group}`;
      throw terminal(`duplicate custom health check for GroupKind ${name} at healthchecks[${index}]`);
    }
    try {
      rules.set(key, await cel.compileHealth(entry, signal));
    } catch (error) {
      throw celFailure(error, `failed to create custom status evaluator for healthchecks[${index}]: `);
    }
  }
  return { isUnreconciled, ruleOf: ({ group, kind }) => rules.get(keyOf(group, kind)) ?? rules.get(keyOf(group, "")) };
}

/** As Go reads it: an apiVersion with more than one slash counts as none. */
function groupKind({ apiVersion, kind = "" }: HealthCheckExpression): { group: string; kind: string } {
  const { group } = apiVersion.split("/").length > 2 ? { group: "" } : parseApiVersion(apiVersion);
  return { group, kind };
}

function keyOf(group: string, kind: string): string {
  return `${group}/${kind}`;
}

/** What Flux's conditions say before a fault that only a change of the spec corrects. */
export const terminalPrefix = "Reconciliation failed terminally due to configuration error: ";

function terminal(message: string): Failure {
  return new Failure("InvalidCELExpression", `${terminalPrefix}${message}`);
}

/** The failure for expressions that have no result, or none in time. Returns an error that does not come from CEL unchanged. */
export function evaluationFailure(error: unknown): unknown {
  if (!(error instanceof CelFault)) return error;
  if (error.reason === "broken" || error.reason === "unavailable") return unanswered(error);
  return new Failure("HealthCheckFailed", error.message, { cause: error });
}

/** The failure for an expression that does not compile: it is not retried before the spec changes. Returns any other error unchanged. */
export function celFailure(error: unknown, prefix: string): unknown {
  if (!(error instanceof CelFault)) return error;
  switch (error.reason) {
    case "expression":
    case "evaluation":
    case "limit":
      return terminal(`${prefix}${error.message}`);
    case "broken":
    case "unavailable":
      return unanswered(error);
  }
}

function unanswered(error: CelFault): Outage {
  return new Outage("HealthCheckFailed", `CEL cannot be asked: ${error.message}`, { cause: error });
}
