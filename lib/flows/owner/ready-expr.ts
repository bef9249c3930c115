import { type Cel, CelFault } from "../../cel/cel.ts";
import { formatDuration, isDurationHeld, parseDuration } from "../../core/duration.ts";
import { isJsonObject, type Json, type JsonObject, toJsonObject } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { TargetCluster } from "../../core/ports/home-and-target.ts";
import type { Run } from "../../core/ports/run.ts";
import { celFailure } from "../../health/health-rules.ts";
import { accountUser } from "../owner/service-account.ts";

/** The parts of a run that an expression is evaluated with. */
export interface ReadyExprContext {
  readonly cel: Cel;
  readonly live: LiveObject;
  readonly namespace: string;
  readonly run: Pick<Run, "signal">;
  readonly remote: unknown;
  readonly target: TargetCluster;
  readonly deps: {
    readonly defaultServiceAccount: string;
    readonly targetOf: (live: LiveObject, signal: AbortSignal) => Promise<TargetCluster>;
  };
}

/**
 * Whether a dependency is ready according to a `readyExpr`; a text where the expression has no result (reference 3.3), or may not read the
 * dependency.
 *
 * @throws Failure of reason `InvalidCELExpression` if it does not compile, as Flux says it; an `Outage` if CEL cannot be asked
 */
export async function evaluateReadyExpr(
  expression: string,
  dependency: LiveObject,
  ctx: ReadyExprContext,
): Promise<boolean | string> {
  const { cel, live, run } = ctx;
  const prefix = `terminal error: failed to evaluate dependency ${dependency.metadata.name}: `;
  const program = await cel.compileBool(expression, ["self", "dep"], run.signal, "integers").catch((error: unknown) => {
    throw celFailure(error, prefix);
  });
  const dep = await asAccountReads(dependency, ctx);
  if (typeof dep === "string") return dep;
  try {
    return await program.evaluate({ self: asFluxReads(live), dep: asFluxReads(dep) }, run.signal);
  } catch (error) {
    if (error instanceof CelFault && (error.reason === "evaluation" || error.reason === "limit")) return error.message;
    throw celFailure(error, prefix);
  }
}

/**
 * The dependency as the expression may see it: a service account reads objects of another namespace with its own rights, so that no
 * expression reveals what is kept from it. A ConfigMap or Secret of the own namespace is read as in Flux. A text where the account
 * may not.
 */
async function asAccountReads(
  dependency: LiveObject,
  { deps, live, namespace, remote, run, target }: ReadyExprContext,
): Promise<LiveObject | string> {
  const user = accountUser(live, deps.defaultServiceAccount);
  const ref = refOf(dependency);
  if (user === undefined || ref.namespace === namespace) return dependency;
  // Dependencies are at home, even those of a Kustomization with another target.
  const account = remote === undefined ? target : await deps.targetOf(live, run.signal);
  const name = `${ref.namespace}/${ref.name}`;
  try {
    return (await account.get(ref, run.signal)) ?? `dependency '${name}' not found`;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "Forbidden") throw error;
    return `the readyExpr of dependency '${name}' may not read it: ${error.message}`;
  }
}

/** Fields of the spec that Flux's type always has. Any other is absent where it is empty, 0 or false. */
const lasting = new Set(["interval", "prune", "sourceRef"]);
const durations = new Set(["interval", "retryInterval", "timeout"]);

/** A Kustomization as Flux has it after a Go type: durations as Go formats them, and no empty fields. Without apiVersion and kind. */
function asFluxReads({ metadata, spec, status }: LiveObject): JsonObject {
  const fields = isJsonObject(spec) ? toJsonObject(spec) : {};
  const read = Object.entries(fields).flatMap(([name, value]): [string, Json][] => {
    if (durations.has(name) && typeof value === "string" && isDurationHeld(value)) {
      return [[name, formatDuration(parseDuration(value))]];
    }
    return lasting.has(name) || !isEmpty(value) ? [[name, withoutFalse(name, value)]] : [];
  });
  const known = Object.entries(isJsonObject(status) ? toJsonObject(status) : {});
  return {
    metadata: toJsonObject(metadata),
    spec: Object.fromEntries(read),
    status: Object.fromEntries(known.filter(([, value]) => !isEmpty(value))),
  };
}

/** `optional: false` is what the API server adds. */
function withoutFalse(name: string, value: Json): Json {
  if (name !== "postBuild" || !isJsonObject(value)) return value;
  const { substituteFrom } = value;
  if (!Array.isArray(substituteFrom)) return value;
  const references = substituteFrom.map((reference: Json) =>
    isJsonObject(reference)
      ? Object.fromEntries(Object.entries(reference).filter(([, one]) => one !== false))
      : reference,
  );
  return { ...value, substituteFrom: references };
}

function isEmpty(value: Json): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
