import { type Cel, JsonText } from "../cel/cel.ts";
import { messageOf } from "../core/failure.ts";
import { type JsonObject, toJsonObject } from "../core/json.ts";
import type { DeliverDeps } from "./deliver.ts";
import { eventJson } from "./event-json.ts";
import type { NotificationEvent } from "./notification-event.ts";

/** The ID of a commit status that no expression gives: one for each object and Provider of all clusters. */
export function defaultCommitStatus(kind: string, name: string, providerUid: string): string {
  const [part = ""] = providerUid.split("-");
  return `${kind}/${name}/${part}`.toLowerCase();
}

/** What `spec.commitStatusExpr` reads. */
export interface CommitStatusValues {
  /** With merged metadata. */
  readonly event: NotificationEvent;
  /** The objects as they are in the cluster. */
  readonly provider: JsonObject;
  readonly alert: JsonObject;
}

/**
 * The ID that `spec.commitStatusExpr` of a Provider gives. It may be empty, which providers refuse.
 *
 * @throws Error with Flux's text, which stands behind `failed to create commit status: `; or the reason `signal` was aborted with
 */
export async function commitStatusOf(
  expression: string,
  { event, provider, alert }: CommitStatusValues,
  cel: Pick<Cel, "compileString">,
  signal: AbortSignal,
): Promise<string> {
  const failed = (why: string, cause: unknown): Error => {
    signal.throwIfAborted();
    const what = "failed to evaluate the spec.commitStatusExpr CEL expression for the event";
    return new Error(`${what}: ${why}`, { cause });
  };
  let program;
  try {
    program = await cel.compileString(expression, ["event", "alert", "provider"], signal);
  } catch (error) {
    throw failed(`failed to compile expression: ${messageOf(error)}`, error);
  }
  try {
    return await program.evaluate({ event: new JsonText(eventJson(event)), alert, provider }, signal);
  } catch (error) {
    throw failed(messageOf(error), error);
  }
}

/** The IDs of commit statuses: by the expression of the Provider, else one for each object and Provider. */
export function commitStatuses(cel: Pick<Cel, "compileString">): DeliverDeps["commitStatusOf"] {
  return async ({ event, alert, provider, expression }, signal) => {
    const { kind, name } = event.involvedObject;
    if (expression === "") return defaultCommitStatus(kind, name, provider.metadata.uid);
    const values = { event, alert: toJsonObject(alert), provider: toJsonObject(provider) };
    return commitStatusOf(expression, values, cel, signal);
  };
}
