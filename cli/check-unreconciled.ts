import type { ReconciledKinds } from "../lib/api/kinds/unreconciled.ts";
import { someOf } from "../lib/core/cut-text.ts";
import { findUnreconciled, type Unreconciled } from "./objects/unreconciled.ts";
import type { Session } from "./session.ts";

interface Asking extends Pick<Session, "signal"> {
  readonly cluster: Parameters<typeof findUnreconciled>[1];
  readonly terminal: Pick<Session["terminal"], "action" | "warning">;
}

/**
 * Which objects of the cluster Sluice leaves to others. Says nothing where there are none. Fails no check: the controllers of their kinds
 * may run. Undefined if the cluster does not say what it serves.
 */
export async function checkUnreconciled(
  reconciled: ReconciledKinds,
  { cluster, terminal, signal }: Asking,
): Promise<readonly Unreconciled[] | undefined> {
  const answer = await findUnreconciled(reconciled, cluster, signal);
  if ("fault" in answer) {
    terminal.warning(answer.fault);
    return undefined;
  }
  const { found } = answer;
  if (found.length > 0) terminal.action("checking for objects of Flux and Flagger that Sluice does not reconcile");
  for (const one of found) terminal.warning(lineOf(one));
  return found;
}

function lineOf({ kind, count, objects, controller, fault = "" }: Unreconciled): string {
  if (count === null) return `${kind}: not known, they cannot be listed: ${fault}`;
  const more = Array.from({ length: count - objects.length }, () => "");
  const by = controller === undefined ? "their own controller runs" : `${controller} runs`;
  return `${kind}: ${count} not reconciled by Sluice (${someOf([...objects, ...more], objects.length)}): nothing happens to them unless ${by}`;
}
