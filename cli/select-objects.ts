import type { LiveObject } from "../lib/core/manifest.ts";
import type { Reconcilable } from "./reconcilable.ts";
import type { Session } from "./settings.ts";

/** The objects that a command is about: those named, or all of the namespace. What is absent is told, not thrown. */
export async function* selectObjects(
  { group, version, kind }: Reconcilable,
  names: readonly string[],
  all: boolean,
  absent: (name: string) => string,
  { cluster, terminal, namespace, signal }: Session,
): AsyncGenerator<LiveObject> {
  if (all) {
    const objects = await cluster.list({ group, version, kind, namespace }, signal);
    if (objects.length === 0) terminal.failure(`no ${kind} objects found in ${namespace} namespace`);
    yield* objects;
    return;
  }
  if (names.length === 0) throw new Error(`${kind} name is required`);
  for (const name of names) {
    const object = await cluster.get({ group, version, kind, namespace, name }, signal);
    if (object === undefined) terminal.failure(absent(name));
    else yield object;
  }
}
