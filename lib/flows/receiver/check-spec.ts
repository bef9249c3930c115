import { overLimits } from "../../api/field-marks.ts";
import { combinationFault, ReceiverSpec } from "../../api/receiver.ts";
import { type Cel, CelFault } from "../../cel/cel.ts";
import { Failure } from "../../core/failure.ts";
import { Outage } from "../../core/ports/outage.ts";

const terminal = "Reconciliation failed terminally due to configuration error";

/** Throws a {@link Failure} for a spec that only a change of the object mends, in Flux's words where Flux has some. */
export async function checkSpec(
  spec: ReceiverSpec,
  cel: Pick<Cel, "compileBool" | "compileRules">,
  signal: AbortSignal,
): Promise<void> {
  refuseOverLimits(spec);
  for (const { expression, what } of filtersOf(spec)) {
    try {
      await cel.compileBool(expression, filterVariables(spec.type), signal);
    } catch (error) {
      throw failureOf(error, what);
    }
  }
  const fault = combinationFault(spec) ?? providersFault(spec.oidcProviders ?? []);
  if (fault !== undefined) throw new Failure("ValidationFailed", `${terminal}: ${fault}`);
  for (const [index, { issuerURL, variables = [], validations }] of (spec.oidcProviders ?? []).entries()) {
    try {
      await cel.compileRules({ variables, validations }, signal);
    } catch (error) {
      throw failureOf(error, `oidcProviders[${index}] (issuerURL=${JSON.stringify(issuerURL)})`);
    }
  }
}

/** Throws a {@link Failure} for a spec that holds more than it may. */
export function refuseOverLimits(spec: ReceiverSpec): void {
  const over = overLimits(ReceiverSpec, spec);
  if (over.length > 0) throw new Failure("InvalidSpec", over.join("; "));
}

/** The checks of Flux's controller for providers, apart from their expressions, in its words. */
function providersFault(providers: NonNullable<ReceiverSpec["oidcProviders"]>): string | undefined {
  const seen = new Set<string>();
  for (const [index, { issuerURL, variables = [], validations }] of providers.entries()) {
    const url = JSON.stringify(issuerURL);
    if (seen.has(issuerURL)) return `oidcProviders[${index}]: duplicate issuerURL ${url}`;
    seen.add(issuerURL);
    const fields = [
      ...variables.flatMap(({ name, expression }, at) => [
        { text: name, what: `variables[${at}]: name` },
        { text: expression, what: `variables[${at}] (name=${JSON.stringify(name)}): expression` },
      ]),
      ...validations.flatMap(({ expression, message }, at) => [
        { text: expression, what: `validations[${at}]: expression` },
        { text: message, what: `validations[${at}]: message` },
      ]),
    ];
    const empty = fields.find(({ text }) => text === "");
    if (empty !== undefined) return `oidcProviders[${index}] (issuerURL=${url}): ${empty.what} is required`;
  }
  return undefined;
}

/** What filters may read. */
function filterVariables(type: ReceiverSpec["type"]): readonly string[] {
  return type === "generic-oidc" ? ["res", "req", "claims"] : ["res", "req"];
}

function filtersOf({ resourceFilter = "", resources }: ReceiverSpec) {
  return [
    { expression: resourceFilter, what: "invalid resourceFilter expression" },
    ...resources.map(({ filter: expression = "", kind, name }, index) => ({
      expression,
      what: `invalid filter expression for resources[${index}] (kind="${kind}", name=${JSON.stringify(name)})`,
    })),
  ].filter(({ expression }) => expression !== "");
}

function failureOf(error: unknown, what: string): unknown {
  if (!(error instanceof CelFault)) return error;
  if (error.reason === "broken" || error.reason === "unavailable") {
    return new Outage("ReconciliationFailed", `${what}: ${error.message}`, { cause: error });
  }
  return new Failure("InvalidCELExpression", `${terminal}: ${what}: ${error.message}`, { cause: error });
}
