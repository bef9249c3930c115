import type { Condition } from "../api/condition.ts";
import { kubernetesTime } from "../core/kubernetes-time.ts";
import { safeMessage } from "../core/safe-text.ts";

/** A condition of a flow; generation and time are filled in. */
export type Said = Pick<Condition, "type" | "status" | "reason" | "message">;

type Conditioned = { readonly conditions?: Condition[] | undefined };

const firstInOrder = ["Stalled", "Reconciling", "Ready"];

/**
 * The conditions with this one in place of the one of its type. `lastTransitionTime` moves where status, reason or message
 * does, as Flux has it; a message is made safe and cut at 32768 bytes. Sorted Stalled, Reconciling, Ready, then by generation and type.
 */
export function setCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, "lastTransitionTime">,
  now: number,
): readonly Condition[] {
  const message = safeMessage(condition.message);
  const before = conditions.find(({ type }) => type === condition.type);
  const moved =
    before === undefined ||
    before.status !== condition.status ||
    before.reason !== condition.reason ||
    before.message !== message;
  const lastTransitionTime = moved ? kubernetesTime(now) : before.lastTransitionTime;
  const others = conditions.filter(({ type }) => type !== condition.type);
  return [...others, { ...condition, message, lastTransitionTime }].toSorted(byRank);
}

/** The status with these conditions set, for this generation. */
export function setConditions<Status extends Conditioned>(
  status: Status,
  said: readonly Said[],
  { generation, at }: { readonly generation: number; readonly at: number },
): Status {
  const conditions = said.reduce<readonly Condition[]>(
    (before, condition) => setCondition(before, { ...condition, observedGeneration: generation }, at),
    status.conditions ?? [],
  );
  return { ...status, conditions: [...conditions] };
}

/** The status without its conditions of these types. */
export function removeConditions<Status extends Conditioned>(status: Status, types: readonly string[]): Status {
  if (status.conditions === undefined) return status;
  const conditions = types.reduce<readonly Condition[]>(removeCondition, status.conditions);
  return { ...status, conditions: [...conditions] };
}

export function removeCondition(conditions: readonly Condition[], type: string): readonly Condition[] {
  return conditions.filter((condition) => condition.type !== type);
}

/** The status of a run that failed and will be tried again: Reconciling keeps its message. */
export function failing<Status extends Conditioned>(
  status: Status,
  said: Pick<Said, "reason" | "message">,
  now: { readonly generation: number; readonly at: number },
): Status {
  const doing = status.conditions?.find(({ type }) => type === "Reconciling")?.message ?? "reconciliation in progress";
  const { reason, message } = said;
  return setConditions(
    removeConditions(status, ["Stalled"]),
    [
      { type: "Reconciling", status: "True", reason: "ProgressingWithRetry", message: doing },
      { type: "Ready", status: "False", reason, message },
    ],
    now,
  );
}

function byRank(a: Condition, b: Condition): number {
  return rank(a) - rank(b) || (b.observedGeneration ?? 0) - (a.observedGeneration ?? 0) || (a.type < b.type ? -1 : 1);
}

function rank({ type }: Condition): number {
  const index = firstInOrder.indexOf(type);
  return index === -1 ? firstInOrder.length : index;
}
