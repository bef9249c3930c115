import { declaredCanary } from "../lib/api/kinds/canary.ts";
import { servedKind } from "../lib/api/kinds/declaration.ts";
import { promoteAnnotation, rollbackAnnotation } from "../lib/api/names.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { isSuspended, textAt, valueAt } from "./read-object.ts";
import { loadObject, manager, requestTime } from "./reconcile-object.ts";
import type { Session } from "./session.ts";

/** `promote canary`: the gates of the run in flight are open from the next step on. What a check says still counts. */
export async function promoteCanary(name: string, session: Session): Promise<void> {
  const canary = await loadObject(declaredCanary, name, session);
  const phase = textAt(canary, "status", "phase");
  if (!["Waiting", "Progressing", "WaitingPromotion"].includes(phase)) {
    throw new Error(`Canary ${name} has no run that could be let on: ${phaseText(phase)}`);
  }
  if (!isGated(canary)) {
    throw new Error(
      `Canary ${name} waits for nobody: spec.analysis.webhooks has no webhook of type ${gateTypes.join(", ")}. It is promoted when its checks have passed`,
    );
  }
  await ask(canary, promoteAnnotation, session);
  session.terminal.success(`the gates of Canary ${name} are open for this run`);
  await tellWhen(canary, session);
}

/** `rollback canary`: the next step ends the run in flight, and all traffic goes to the primary. */
export async function rollBackCanary(name: string, session: Session): Promise<void> {
  const canary = await loadObject(declaredCanary, name, session);
  const phase = textAt(canary, "status", "phase");
  if (!["Progressing", "WaitingPromotion"].includes(phase)) {
    const target = `${textAt(canary, "spec", "targetRef", "kind")} ${textAt(canary, "spec", "targetRef", "name")}`;
    throw new Error(
      `Canary ${name} has no run that could be rolled back: ${phaseText(phase)}. To go back to another version, change ${target}, for example by a revert in git`,
    );
  }
  await ask(canary, rollbackAnnotation, session);
  session.terminal.success(`Canary ${name} is to be rolled back`);
  await tellWhen(canary, session);
}

const gateTypes: readonly string[] = ["confirm-rollout", "confirm-traffic-increase", "confirm-promotion"];

function isGated(canary: LiveObject): boolean {
  const webhooks = valueAt(canary, "spec", "analysis", "webhooks");
  const types = (Array.isArray(webhooks) ? webhooks : []).map((each) => (isJsonObject(each) ? each["type"] : ""));
  return gateTypes.some((type) => types.includes(type));
}

function phaseText(phase: string): string {
  return phase === "" ? "it has had no step yet" : `its phase is ${phase}`;
}

/** A time asks for it of the run in flight alone: a later run begins after it. */
async function ask(
  { metadata: { name, namespace = "" } }: LiveObject,
  annotation: string,
  { cluster, signal }: Session,
): Promise<void> {
  const body = { metadata: { annotations: { [annotation]: requestTime() } } };
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
