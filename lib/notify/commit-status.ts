import type { Cel } from "../cel/cel.ts";
import { toJsonObject } from "../core/json.ts";
import { commitStatusOf, defaultCommitStatus } from "./commit-status-expression.ts";
import type { DeliverDeps } from "./deliver.ts";

/** The IDs of commit statuses: by the expression of the Provider, else one for each object and Provider. */
export function commitStatuses(cel: Pick<Cel, "compileString">): DeliverDeps["commitStatusOf"] {
  return async ({ event, alert, provider, expression }, signal) => {
    const { kind, name } = event.involvedObject;
    if (expression === "") return defaultCommitStatus(kind, name, provider.metadata.uid);
    const values = { event, alert: toJsonObject(alert), provider: toJsonObject(provider) };
    return commitStatusOf(expression, values, cel, signal);
  };
}
