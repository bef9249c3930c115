import type { Json } from "../core/json.ts";
import { PortError } from "../core/ports/port-error.ts";
import type { Tenant } from "../core/tenant.ts";

/** A value as JSON text. It reaches the evaluator as it was written, so whole numbers beyond 2^53 keep all their digits. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The value of each variable by its name. Every variable that was declared needs one, and each is a JSON object. */
export type CelValues = Readonly<Record<string, Json | JsonText>>;

/** An expression that compiles. It holds nothing: the evaluator keeps the compiled program by its text. */
export interface CelProgram<Result> {
  /** @throws CelFault, for example for a key that is missing; or the reason `signal` was aborted with */
  evaluate(values: CelValues, signal: AbortSignal): Promise<Result>;
  /**
   * The expression for many objects in one message: each of `each` together with `shared`, in their order. A failed evaluation does not
   * stop the others: its place holds the fault.
   *
   * @throws CelFault of reason `limit`, `broken` or `unavailable`
   */
  evaluateEach(
    shared: CelValues,
    each: readonly CelValues[],
    signal: AbortSignal,
  ): Promise<readonly (Result | CelFault)[]>;
}

/** Variables and validations of a provider of `generic-oidc`. They read `claims` and `vars`. */
export interface CelRules {
  /** Evaluated in order. Each is visible to those after it as `vars.<name>`. */
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

/** {@link CelRules} that compile. */
export interface CelRuleSet {
  /** The messages of all validations that are false; empty if the claims pass. @throws CelFault */
  failures(claims: JsonText, signal: AbortSignal): Promise<readonly string[]>;
}

/** An entry of `spec.healthCheckExprs`, without its kinds. An empty expression counts as none. */
export interface CelHealthRule {
  readonly current: string;
  readonly inProgress?: string;
  readonly failed?: string;
}

/** A {@link CelHealthRule} that parses. */
export interface CelHealth {
  /**
   * The status of each object, in their order. An evaluation that fails does not stop the others: its place has the fault.
   *
   * @throws CelFault of reason `limit`, `broken` or `unavailable`
   */
  statuses(
    objects: readonly (Json | JsonText)[],
    signal: AbortSignal,
  ): Promise<readonly ("InProgress" | "Failed" | "Current" | CelFault)[]>;
}

/** How whole numbers are read: as doubles, as Flux's filters do, or as int, as in objects of Kubernetes. */
export type CelNumbers = "doubles" | "integers";

/**
 * The budget of the expressions of one object in one run, in CEL's operations: ten times that of one evaluation. So no tenant delays others
 * for long, however many objects and expressions it has.
 */
export const maxRunCost = 10_000_000;

/**
 * The same for one delivery of a webhook, and what each of its evaluations may cost: a quarter of Kubernetes' limit, since its sender
 * waits for the answer, and so do those of other namespaces.
 */
export const maxDeliveryCost = 2_500_000;
export const maxFilterCost = 250_000;

/**
 * Flux's CEL (`fluxcd/pkg/runtime/cel`): cel-go with the standard library, optional types and the extensions strings, sets
 * and encoders. Each variable is a map of strings to anything. The messages are those of Flux. Length, size, cost, time and memory are bounded (docs/limits.md).
 */
export interface Cel {
  /**
   * The same with a budget for all its expressions, which take the turns of this tenant: {@link maxRunCost}, or {@link maxDeliveryCost} for
   * a delivery. Beyond the budget an evaluation is a fault of reason `limit`.
   */
  withBudget(tenant: Tenant, purpose?: "delivery" | "run"): Cel;
  /** @throws CelFault where the text does not parse, or where its type is not bool for certain */
  compileBool(
    expression: string,
    variables: readonly string[],
    signal: AbortSignal,
    numbers?: CelNumbers,
  ): Promise<CelProgram<boolean>>;
  /**
   * For texts about Kubernetes objects: whole numbers are int.
   *
   * @throws CelFault if the text does not parse, or if its type is not certainly string
   */
  compileString(expression: string, variables: readonly string[], signal: AbortSignal): Promise<CelProgram<string>>;
  /** @throws CelFault where the text does not parse or check. The result has to be something that JSON can express. */
  compileValue(expression: string, variables: readonly string[], signal: AbortSignal): Promise<CelProgram<Json>>;
  /** @throws CelFault that names the variable or validation that does not compile */
  compileRules(rules: CelRules, signal: AbortSignal): Promise<CelRuleSet>;
  /** @throws CelFault with the message of Flux's status evaluator: which expression does not parse, and why */
  compileHealth(rule: CelHealthRule, signal: AbortSignal): Promise<CelHealth>;
}

/**
 * `expression`: it does not compile. `evaluation`: these values have no result. `limit`: longer, larger, costlier or slower
 * than is allowed. `broken`: the evaluator ended. `unavailable`: the evaluator did not start, or too much of the
 * tenant is waiting for it.
 */
export type CelFaultReason = "expression" | "evaluation" | "limit" | "broken" | "unavailable";

/** Its message is Flux's where Flux has one. It may quote the expression, and never a value that it reads. */
export class CelFault extends PortError<CelFaultReason> {
  override readonly name = "CelFault";
}
