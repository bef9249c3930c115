import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { hintElsewhere, withHint } from "./hint-elsewhere.ts";
import { nameOf } from "./objects/read-object.ts";
import type { Session } from "./session.ts";

export interface DeleteObjectOptions {
  /** flux's word for "without a question". */
  readonly silent?: boolean;
}

/** `delete`: asks, and deletes the object that was there when it asked. What becomes of what the object has applied is up to the object. */
export async function deleteObject(
  kind: KindDeclaration,
  name: string,
  { silent = false }: DeleteObjectOptions,
  session: Session,
): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const ref = { ...servedKind(kind), namespace, name };
  const object = await cluster.get(ref, signal);
  if (object === undefined) {
    const absent = `${kind.kind} object '${name}' not found in "${namespace}" namespace`;
    throw new Error(withHint(absent, await hintElsewhere(kind, name, session)));
  }
  const what = nameOf(kind);
  if (!silent && !(await isConfirmed(what, session))) throw new Error("aborting");
  terminal.action(`deleting ${what} ${name} in ${namespace} namespace`);
  await cluster.delete(ref, { uid: object.metadata.uid, propagation: "Background" }, signal);
  terminal.success(`${what} deleted`);
}

async function isConfirmed(what: string, { terminal }: Session): Promise<boolean> {
  if (terminal.confirm === undefined) throw new Error("delete asks before it deletes: confirm it with --silent");
  return terminal.confirm(`Are you sure you want to delete this ${what}?`);
}
