import { refOf } from "../lib/core/manifest.ts";
import type { Reconcilable } from "./reconcilable.ts";
import { manager } from "./reconcile-object.ts";
import { selectObjects } from "./select-objects.ts";
import type { Session } from "./settings.ts";

/** `suspend`: sets `spec.suspend`. An object that is not there is told and is no error, as with flux. */
export async function suspendObjects(
  kind: Reconcilable,
  names: readonly string[],
  all: boolean,
  session: Session,
): Promise<void> {
  const { cluster, terminal, namespace, signal } = session;
  const absent = (name: string) => `${kind.kind} ${name} not found in ${namespace} namespace`;
  for await (const object of selectObjects(kind, names, all, absent, session)) {
    terminal.action(`suspending ${kind.human} ${object.metadata.name} in ${namespace} namespace`);
    const ref = { ...refOf(object), version: kind.version };
    await cluster.patch(ref, { type: "merge", body: { spec: { suspend: true } } }, { manager }, signal);
    terminal.success(`${kind.human} suspended`);
  }
}
