import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { messageOf } from "../lib/core/failure.ts";
import { type LiveObject, refOf } from "../lib/core/manifest.ts";
import { conditionOf, nameOf, suspendPatch, valueAt } from "./objects/read-object.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { failureOf, waitFor } from "./progress.ts";
import { doneText, isCurrent, manager } from "./reconcile-object.ts";
import type { Session } from "./session.ts";

/** `suspend`: sets `spec.suspend`, or the annotation that the kind has in its place. As with flux, a missing object is reported and is not an error. */
export async function suspendObjects(
  kind: KindDeclaration,
  names: readonly string[],
  all: boolean,
  session: Session,
): Promise<void> {
  const { cluster, terminal, namespace, signal } = session;
  const absent = (name: string) => `${kind.kind} ${name} not found in ${namespace} namespace`;
  for await (const object of selectObjects(kind, names, all, absent, session)) {
    terminal.action(`suspending ${nameOf(kind)} ${object.metadata.name} in ${namespace} namespace`);
    const ref = { ...refOf(object), version: kind.versions[0] };
    await cluster.patch(ref, { type: "merge", body: suspendPatch(kind, true) }, { manager }, signal);
    terminal.success(`${nameOf(kind)} suspended`);
  }
}

/** `resume`: clears what `suspend` sets, and with one name or `--wait` waits until the objects are reconciled. */
export async function resumeObjects(
  kind: KindDeclaration,
  names: readonly string[],
  options: { readonly all: boolean; readonly wait: boolean },
  session: Session,
): Promise<void> {
  const { cluster, terminal, namespace, signal } = session;
  const absent = (name: string) => `${kind.kind} object '${name}' not found in ${namespace} namespace`;
  const resumed: LiveObject[] = [];
  for await (const object of selectObjects(kind, names, options.all, absent, session)) {
    terminal.action(`resuming ${nameOf(kind)} ${object.metadata.name} in ${namespace} namespace`);
    const ref = { ...refOf(object), version: kind.versions[0] };
    resumed.push(await cluster.patch(ref, { type: "merge", body: suspendPatch(kind, false) }, { manager }, signal));
    terminal.success(`${nameOf(kind)} resumed`);
  }
  if (!options.wait && (options.all || names.length !== 1)) return;
  // Its status does not say which generation it is of.
  if (kind.readyCondition !== undefined) return;
  await warnIfPaused(session);
  const outcomes = await Promise.all(resumed.map((object) => complete(kind, object, session)));
  const failed = outcomes.filter((went) => !went).length;
  if (failed > 0) throw new Error(`reconciliation failed for ${failed} ${kind.kind}(s)`);
}

async function complete(kind: KindDeclaration, object: LiveObject, session: Session): Promise<boolean> {
  const { terminal } = session;
  const { name } = object.metadata;
  terminal.waiting(`waiting for ${kind.kind} reconciliation`);
  if (kind.isStatic?.(object["spec"]) === true) {
    terminal.success(`${kind.kind} ${name} reconciliation completed`);
    if (kind.isStatusless === true) terminal.success(`${kind.kind} reconciliation completed`);
    return true;
  }
  try {
    const ref = { ...refOf(object), version: kind.versions[0] };
    const isDone = (seen: LiveObject): boolean => {
      if (!isObserved(seen)) return false;
      if (isCurrent(seen)) return true;
      const failure = failureOf(seen);
      if (failure !== undefined) throw new Error(failure);
      return false;
    };
    const done = doneText(kind, await waitFor(ref, isDone, session));
    terminal.success(`${kind.kind} ${name} reconciliation completed`);
    terminal.success(done);
    return true;
  } catch (error) {
    terminal.failure(`${kind.kind} ${name} reconciliation failed: ${messageOf(error)}`);
    return false;
  }
}

/** Whether the status is of the object's present generation. */
export function isObserved(object: LiveObject): boolean {
  const { generation } = object.metadata;
  const observed = valueAt(object, "status", "observedGeneration");
  return observed === generation || conditionOf(object, "Ready")?.observedGeneration === generation;
}

/** The objects of a command: those that are named, or all of the namespace. Missing ones are reported, not thrown. */
export async function* selectObjects(
  declared: KindDeclaration,
  names: readonly string[],
  all: boolean,
  absent: (name: string) => string,
  { cluster, terminal, namespace, signal }: Session,
): AsyncGenerator<LiveObject> {
  const served = servedKind(declared);
  const { kind } = served;
  if (all) {
    const objects = await cluster.list({ ...served, namespace }, signal);
    if (objects.length === 0) terminal.failure(`no ${kind} objects found in ${namespace} namespace`);
    yield* objects;
    return;
  }
  if (names.length === 0) throw new Error(`${kind} name is required`);
  for (const name of names) {
    const object = await cluster.get({ ...served, namespace, name }, signal);
    if (object === undefined) terminal.failure(absent(name));
    else yield object;
  }
}
