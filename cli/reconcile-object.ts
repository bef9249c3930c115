import { requestedAtAnnotation } from "../lib/api/names.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { refOf } from "../lib/core/manifest.ts";
import type { Patch } from "../lib/core/ports/cluster.ts";
import { hintElsewhere } from "./hint-elsewhere.ts";
import { progressOf, waitFor } from "./progress.ts";
import { conditionOf, isSuspended, type Reconcilable, sources, textAt } from "./reconcilable.ts";
import type { Session } from "./settings.ts";

/** The field manager of flux's own command: what a user sets by one of the two, the other may change. */
export const manager = "flux";

/** `reconcile`: asks for a run, `--with-source` for one of its source first, and waits until it has gone well. */
export async function reconcileObject(
  kind: Reconcilable,
  name: string,
  withSource: boolean,
  session: Session,
): Promise<void> {
  const { cluster, terminal, namespace, signal } = session;
  const object = await load(kind, name, session);
  if (isSuspended(object)) throw new Error("resource is suspended");
  if (withSource) await reconcileSource(object, session);

  terminal.action(`annotating ${kind.kind} ${name} in ${namespace} namespace`);
  const ref = { ...refOf(object), version: kind.version };
  const before = textAt(object, "status", "lastHandledReconcileAt");
  const patch: Patch = { type: "merge", body: { metadata: { annotations: { [requestedAtAnnotation]: now() } } } };
  await cluster.patch(ref, patch, { manager }, signal);
  terminal.success(`${kind.kind} annotated`);

  terminal.waiting(`waiting for ${kind.kind} reconciliation`);
  const isHandled = (seen: LiveObject) => textAt(seen, "status", "lastHandledReconcileAt") !== before;
  const handled = await waitFor(ref, (seen) => isHandled(seen) && isCurrent(seen), session);
  terminal.success(doneText(kind, handled));
}

/** Whether the object is as it should be; throws where it will not get there by itself. */
export function isCurrent(object: LiveObject): boolean {
  const progress = progressOf(object);
  switch (progress.kind) {
    case "current":
      return true;
    case "in progress":
      return false;
    case "failed":
      throw new Error(progress.message);
  }
}

/** The text for an object that is current; throws where its Ready condition says otherwise. */
export function doneText(kind: Reconcilable, object: LiveObject): string {
  const ready = conditionOf(object, "Ready");
  if (ready === undefined) throw new Error("status can't be determined");
  if (ready.status !== "True") throw new Error(`${kind.kind} reconciliation failed: '${ready.message}'`);
  return kind.done(object);
}

async function load(kind: Reconcilable, name: string, session: Session): Promise<LiveObject> {
  const { cluster, namespace, signal } = session;
  const object = await cluster.get(
    { group: kind.group, version: kind.version, kind: kind.kind, namespace, name },
    signal,
  );
  if (object !== undefined) return object;
  await hintElsewhere(kind, name, session);
  throw new Error(`${kind.kind} object '${name}' not found in "${namespace}" namespace`);
}

async function reconcileSource(object: LiveObject, session: Session): Promise<void> {
  const wanted = textAt(object, "spec", "sourceRef", "kind");
  const source = sources.find(({ kind }) => kind === wanted);
  if (source === undefined) throw new Error(`sources of kind ${wanted} are not supported yet: leave out --with-source`);
  const own = textAt(object, "spec", "sourceRef", "namespace");
  const namespace = own === "" ? session.namespace : own;
  const within = { ...session, namespace, isNamespaceGiven: true };
  await reconcileObject(source, textAt(object, "spec", "sourceRef", "name"), false, within);
}

/** A value that no earlier request had: clocks of machines that ask at the same moment differ in their last digits. */
function now(): string {
  const nanos = String(process.hrtime.bigint() % 1_000_000n).padStart(6, "0");
  return new Date().toISOString().replace("Z", `${nanos}Z`);
}
