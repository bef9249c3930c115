import type { LiveObject } from "../lib/core/manifest.ts";
import type { ListQuery } from "../lib/core/ports/cluster.ts";
import { hintElsewhere } from "./hint-elsewhere.ts";
import { conditionOf, isSuspended, type Reconcilable, textAt } from "./reconcilable.ts";
import { type Session, TimeIsUp } from "./settings.ts";
import { shortenHashes } from "./shorten-hashes.ts";
import { parseStatusSelector, type StatusSelector } from "./status-selector.ts";
import { table } from "./table.ts";

export interface GetOptions {
  readonly allNamespaces?: boolean;
  /** Commander's name for `--no-header`. */
  readonly header: boolean;
  readonly watch?: boolean;
  readonly statusSelector?: string;
  readonly labelSelector?: string;
  readonly showSource?: boolean;
}

/** `get`: one row for each object, or with `--watch` for each event. */
export async function getObjects(
  kind: Reconcilable,
  name: string | undefined,
  options: GetOptions,
  session: Session,
): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const isSelected =
    options.statusSelector === undefined ? () => true : selects(parseStatusSelector(options.statusSelector));
  const query: ListQuery = {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    ...(options.allNamespaces === true ? {} : { namespace }),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
  };
  const header = options.header ? headerOf(options) : undefined;
  if (options.watch === true) {
    let pending = header;
    const print = (object: LiveObject) => {
      terminal.out(table(pending, [rowOf(kind, object, options)]));
      pending = undefined;
    };
    await watchObjects(cluster.watch(query, signal), (object) => {
      if (isSelected(object)) print(object);
    });
    return;
  }
  const objects = await cluster.list(query, signal);
  if (objects.length === 0) {
    if (options.allNamespaces !== true) await hintElsewhere(kind, name, session);
    throw new Error(notFound(kind, name, options.allNamespaces === true ? "any" : `"${namespace}"`));
  }
  terminal.out(
    table(
      header,
      objects.filter(isSelected).map((object) => rowOf(kind, object, options)),
    ),
  );
}

async function watchObjects(
  events: ReturnType<Session["cluster"]["watch"]>,
  print: (object: LiveObject) => void,
): Promise<void> {
  try {
    for await (const event of events) if (event.type === "ADDED" || event.type === "MODIFIED") print(event.object);
  } catch (error) {
    if (error instanceof TimeIsUp) throw new Error("timed out waiting for the condition", { cause: error });
    throw error;
  }
}

function notFound({ kind }: Reconcilable, name: string | undefined, where: string): string {
  return name === undefined
    ? `no ${kind} objects found in ${where} namespace`
    : `${kind} object '${name}' not found in ${where} namespace`;
}

function headerOf({ allNamespaces, showSource }: GetOptions): readonly string[] {
  return [
    ...(allNamespaces === true ? ["Namespace"] : []),
    "Name",
    ...(showSource === true ? ["Source"] : []),
    "Revision",
    "Suspended",
    "Ready",
    "Message",
  ];
}

function rowOf(kind: Reconcilable, object: LiveObject, { allNamespaces, showSource }: GetOptions): readonly string[] {
  const { name, namespace = "" } = object.metadata;
  const ready = conditionOf(object, "Ready");
  return [
    ...(allNamespaces === true ? [namespace] : []),
    name,
    ...(showSource === true ? [sourceOf(object)] : []),
    shortenHashes(kind.revision(object)),
    isSuspended(object) ? "True" : "False",
    ready?.status ?? "False",
    shortenHashes(ready?.message ?? "waiting to be reconciled"),
  ];
}

/** `Kind/namespace/name`, without the namespace where it is the object's own. */
function sourceOf(object: LiveObject): string {
  const namespace = textAt(object, "spec", "sourceRef", "namespace");
  const parts = [textAt(object, "spec", "sourceRef", "kind"), namespace, textAt(object, "spec", "sourceRef", "name")];
  return parts.filter((part) => part !== "").join("/");
}

function selects({ type, status, negated }: StatusSelector): (object: LiveObject) => boolean {
  return (object) => {
    const found = conditionOf(object, type);
    return (found?.status.toLowerCase() === status) !== negated;
  };
}
