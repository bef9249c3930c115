import type { GateType } from "../lib/api/canary.ts";
import { declaredCanary } from "../lib/api/kinds/canary.ts";
import { servedKind } from "../lib/api/kinds/declaration.ts";
import { promoteAnnotation, rollbackAnnotation } from "../lib/api/names.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { countAt, isSuspended, textAt, valueAt } from "./objects/read-object.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { loadObject, manager, requestTime } from "./reconcile-object.ts";
import type { Session } from "./session.ts";

/** `promote canary`: opens the gate that the run in flight asks next, and no later one. Failed checks still count. */
export async function promoteCanary(name: string, session: Session): Promise<void> {
  const canary = await loadObject(declaredCanary, name, session);
  const phase = textAt(canary, "status", "phase");
  const gates = gatesIn(phase, canary);
  if (gates.length === 0) throw new Error(`Canary ${name} has no run with a gate to open: ${phaseText(phase)}`);
  const gate = gates.find((type) => hasHook(type, canary));
  if (gate === undefined) {
    throw new Error(
      `Canary ${name} has no gate to open: ${phaseText(phase)}, and spec.analysis.webhooks has no webhook of type ${gates.join(" or ")}. Its run goes on when its checks have passed`,
    );
  }
  const isOfWeight = gate === "confirm-traffic-increase";
  const weight = countAt(canary, "status", "canaryWeight");
  await ask(canary, promoteAnnotation, session, isOfWeight ? [gate, weight] : [gate]);
  const until = isOfWeight ? `for the next weight after ${weight}%` : "for this run";
  session.terminal.success(`gate ${gate} of Canary ${name} is open ${until}`);
  await tellWhen(canary, session);
}

/** `rollback canary`: the next step ends the run in flight, and all traffic goes to the primary. */
export async function rollBackCanary(name: string, session: Session): Promise<void> {
  const canary = await loadObject(declaredCanary, name, session);
  const phase = textAt(canary, "status", "phase");
  if (!["Progressing", "WaitingPromotion"].includes(phase)) {
    const target = `${textAt(canary, "spec", "targetRef", "kind")} ${textAt(canary, "spec", "targetRef", "name")}`;
    throw new Error(
      `Canary ${name} has no run to roll back: ${phaseText(phase)}. To go back to another version, change ${target}, for example by a revert in git`,
    );
  }
  await ask(canary, rollbackAnnotation, session);
  session.terminal.success(`Canary ${name} will be rolled back`);
  await tellWhen(canary, session);
}

/** The gates that the run in flight may ask next, the first one first; none where there is no run, or all its gates were asked. */
function gatesIn(phase: string, canary: LiveObject): readonly GateType[] {
  if (phase === "Waiting") return ["confirm-rollout"];
  if (phase === "WaitingPromotion") return ["confirm-promotion"];
  if (phase !== "Progressing") return [];
  const hasIterations = countAt(canary, "spec", "analysis", "iterations") !== "0";
  const isWeighted = !hasIterations && textAt(canary, "spec", "provider") !== "kubernetes";
  return isWeighted ? ["confirm-traffic-increase", "confirm-promotion"] : ["confirm-promotion"];
}

function hasHook(type: GateType, canary: LiveObject): boolean {
  const webhooks = valueAt(canary, "spec", "analysis", "webhooks");
  return Array.isArray(webhooks) && webhooks.some((hook) => isJsonObject(hook) && hook["type"] === type);
}

function phaseText(phase: string): string {
  return phase === "" ? "it has had no step yet" : `its phase is ${phase}`;
}

/** A time asks for it of the run in flight only: a later run begins after it. */
async function ask(
  { metadata: { name, namespace = "" } }: LiveObject,
  annotation: string,
  { cluster, signal }: Session,
  gate: readonly string[] = [],
): Promise<void> {
  const body = { metadata: { annotations: { [annotation]: [requestTime(), ...gate].join(" ") } } };
  await cluster.patch({ ...servedKind(declaredCanary), namespace, name }, { type: "merge", body }, { manager }, signal);
}

async function tellWhen(canary: LiveObject, session: Session): Promise<void> {
  const { terminal } = session;
  const { name } = canary.metadata;
  if (isSuspended({}, canary)) {
    terminal.warning(`Canary ${name} is suspended: it takes no step until it is resumed`);
    return;
  }
  await warnIfPaused(session);
  const interval = textAt(canary, "spec", "analysis", "interval");
  terminal.waiting(`the next step is within ${interval === "" ? "a minute" : interval}; see sluice why canary ${name}`);
}
