import { messageOf } from "../lib/core/failure.ts";
import { type LiveObject, refOf } from "../lib/core/manifest.ts";
import { waitFor } from "./progress.ts";
import { conditionOf, type Reconcilable, valueAt } from "./reconcilable.ts";
import { doneText, isCurrent, manager } from "./reconcile-object.ts";
import { selectObjects } from "./select-objects.ts";
import type { Session } from "./settings.ts";

/** `resume`: clears `spec.suspend`, and with one name or `--wait` waits until the objects are as they should be. */
export async function resumeObjects(
  kind: Reconcilable,
  names: readonly string[],
  options: { readonly all: boolean; readonly wait: boolean },
  session: Session,
): Promise<void> {
  const { cluster, terminal, namespace, signal } = session;
  const absent = (name: string) => `${kind.kind} object '${name}' not found in ${namespace} namespace`;
  const resumed: LiveObject[] = [];
  for await (const object of selectObjects(kind, names, options.all, absent, session)) {
    terminal.action(`resuming ${kind.human} ${object.metadata.name} in ${namespace} namespace`);
    const ref = { ...refOf(object), version: kind.version };
    resumed.push(await cluster.patch(ref, { type: "merge", body: { spec: { suspend: false } } }, { manager }, signal));
    terminal.success(`${kind.human} resumed`);
  }
  if (!options.wait && (options.all || names.length !== 1)) return;
  const outcomes = await Promise.all(resumed.map((object) => complete(kind, object, session)));
  const failed = outcomes.filter((went) => !went).length;
  if (failed > 0) throw new Error(`reconciliation failed for ${failed} ${kind.kind}(s)`);
}

async function complete(kind: Reconcilable, object: LiveObject, session: Session): Promise<boolean> {
  const { terminal } = session;
  const { name } = object.metadata;
  terminal.waiting(`waiting for ${kind.kind} reconciliation`);
  try {
    const ref = { ...refOf(object), version: kind.version };
    const done = doneText(kind, await waitFor(ref, (seen) => isObserved(seen) && isCurrent(seen), session));
    terminal.success(`${kind.kind} ${name} reconciliation completed`);
    terminal.success(done);
    return true;
  } catch (error) {
    terminal.failure(`${kind.kind} ${name} reconciliation failed: ${messageOf(error)}`);
    return false;
  }
}

/** Whether the status speaks of the object as it is now. */
function isObserved(object: LiveObject): boolean {
  const { generation } = object.metadata;
  const observed = valueAt(object, "status", "observedGeneration");
  return observed === generation || conditionOf(object, "Ready")?.observedGeneration === generation;
}
