import {
  type KindDeclaration,
  type KindWords,
  readyConditionOf,
  type ShownColumn,
  servedKind,
} from "../lib/api/kinds/declaration.ts";
import { declaredReceiver } from "../lib/api/kinds/receiver.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { ListQuery } from "../lib/core/ports/cluster.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { webhookUrlOf } from "../lib/gate/cluster-owner.ts";
import { hintElsewhere, withHint } from "./hint-elsewhere.ts";
import { sourceOf } from "./object-source.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { conditionOf, isSuspended, readinessOf, revisionOf, shownAt, textAt } from "./read-object.ts";
import { type Session, TimeIsUp } from "./session.ts";
import { table } from "./table.ts";
import { printVersions } from "./watch-again.ts";

export interface GetOptions {
  readonly allNamespaces?: boolean;
  /** Commander's name for `--no-header`. */
  readonly header: boolean;
  readonly watch?: boolean;
  readonly statusSelector?: string;
  readonly labelSelector?: string;
  readonly showSource?: boolean;
  /** `wide`: all columns, and messages that are not cut to the width of the screen. */
  readonly output?: "wide";
}

/** `get`: one row for each object, or with `--watch` for each event. */
export async function getObjects(
  kind: KindDeclaration,
  name: string | undefined,
  options: GetOptions,
  session: Session,
): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const isSelected = selectedBy(kind, options);
  const query: ListQuery = {
    ...queryOf(kind, options, session),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
  const columns = options.output === "wide" ? undefined : terminal.columns();
  const header = options.header ? headerOf(kind, options) : undefined;
  await warnIfPaused(session);
  const row = {
    ...options,
    ...(kind.kind === declaredReceiver.kind ? { webhookUrl: await readWebhookUrl(session) } : {}),
  };
  const where = options.allNamespaces === true ? "any" : `"${namespace}"`;
  if (options.watch === true) {
    let pending = header;
    const print = (object: LiveObject) => {
      terminal.out(table(pending, [rowOf(kind, object, row)], columns));
      pending = undefined;
    };
    try {
      await printVersions(
        query,
        (object) => {
          if (isSelected(object)) print(object);
        },
        session,
        () => {
          terminal.waiting(`${notFound(kind, name, where)}: waiting for one`);
        },
      );
    } catch (error) {
      if (error instanceof TimeIsUp) throw new Error("timed out waiting for the condition", { cause: error });
      throw error;
    }
    return;
  }
  const objects = await cluster.list(query, signal);
  if (objects.length === 0) {
    const hint = options.allNamespaces === true ? "" : await hintElsewhere(kind, name, session);
    throw new Error(withHint(notFound(kind, name, where), hint));
  }
  terminal.out(
    table(
      header,
      objects.filter(isSelected).map((object) => rowOf(kind, object, row)),
      columns,
    ),
  );
}

/**
 * `get sources all`: a table for each kind that has objects, whose names begin with the kind, as flux prints it.
 *
 * @param what the kinds together: `sources`
 */
export async function getAll(
  kinds: readonly KindDeclaration[],
  what: string,
  options: GetOptions,
  session: Session,
): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const columns = options.output === "wide" ? undefined : terminal.columns();
  await warnIfPaused(session);
  const tables: string[] = [];
  for (const kind of kinds) {
    const objects = await cluster.list(queryOf(kind, options, session), signal);
    const rows = objects.filter(selectedBy(kind, options)).map((object) => {
      const name = `${kind.kind.toLowerCase()}/${object.metadata.name}`;
      return rowOf(kind, { ...object, metadata: { ...object.metadata, name } }, options);
    });
    if (rows.length > 0) tables.push(table(options.header ? headerOf(kind, options) : undefined, rows, columns));
  }
  if (tables.length > 0) return terminal.out(tables.join("\n"));
  const where = options.allNamespaces === true ? "any" : `"${namespace}"`;
  throw new Error(`no ${what} found in ${where} namespace`);
}

function selectedBy(kind: KindDeclaration, { statusSelector }: GetOptions): (object: LiveObject) => boolean {
  return statusSelector === undefined ? () => true : selects(kind, parseStatusSelector(statusSelector));
}

function queryOf(
  kind: KindDeclaration,
  { allNamespaces, labelSelector }: GetOptions,
  { namespace }: Session,
): ListQuery {
  return {
    ...servedKind(kind),
    ...(allNamespaces === true ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
}

function notFound({ kind }: KindDeclaration, name: string | undefined, where: string): string {
  return name === undefined
    ? `no ${kind} objects found in ${where} namespace`
    : `${kind} object '${name}' not found in ${where} namespace`;
}

function headerOf(kind: KindDeclaration, { allNamespaces, output, showSource }: GetOptions): readonly string[] {
  const titles = { revision: "Revision", suspended: "Suspended" };
  return [
    ...(allNamespaces === true ? ["Namespace"] : []),
    "Name",
    ...(showSource === true ? ["Source"] : []),
    ...shownOf(kind.words, output).map((column) => (typeof column === "string" ? titles[column] : column.title)),
    readyConditionOf(kind),
    "Message",
  ];
}

function shownOf(
  { shown = ["revision", "suspended"] }: KindWords,
  output: GetOptions["output"],
): readonly ShownColumn[] {
  return shown.filter((column) => typeof column === "string" || column.isWide !== true || output === "wide");
}

function rowOf(
  kind: KindDeclaration,
  object: LiveObject,
  { allNamespaces, output, showSource, webhookUrl }: GetOptions & { readonly webhookUrl?: string | undefined },
): readonly string[] {
  const { name, namespace = "" } = object.metadata;
  const ready = readinessOf(kind, object);
  const cells = {
    revision: shortenHashes(revisionOf(kind, object)),
    suspended: isSuspended(kind, object) ? "True" : "False",
  };
  return [
    ...(allNamespaces === true ? [namespace] : []),
    name,
    ...(showSource === true ? [sourceText(kind, object)] : []),
    ...shownOf(kind.words, output).map((column) =>
      typeof column === "string" ? cells[column] : shownAt(object, ...column.path),
    ),
    ready?.status ?? "False",
    shortenHashes(withWebhook(ready?.message ?? "waiting to be reconciled", object, webhookUrl)),
  ];
}

/** Undefined if the address is unknown, or if the user may not read it: then only paths are shown. */
async function readWebhookUrl({ cluster, signal }: Session): Promise<string | undefined> {
  try {
    return await webhookUrlOf(cluster, signal);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** A message with the whole address in place of the path of the object's webhook: git hosts are given that. */
function withWebhook(message: string, object: LiveObject, webhookUrl: string | undefined): string {
  const path = textAt(object, "status", "webhookPath");
  if (webhookUrl === undefined || path === "") return message;
  return message.replaceAll(path, () => webhookUrl.replace(/\/+$/, "") + path);
}

/** `Kind/namespace/name` */
function sourceText(kind: KindDeclaration, object: LiveObject): string {
  const source = sourceOf(kind, object);
  return source === undefined ? "" : `${source.kind}/${source.namespace}/${source.name}`;
}

function selects(kind: KindDeclaration, { type, status, negated }: StatusSelector): (object: LiveObject) => boolean {
  return (object) => {
    const found = type === readyConditionOf(kind) ? readinessOf(kind, object) : conditionOf(object, type);
    return (found?.status.toLowerCase() === status) !== negated;
  };
}

/** `--status-selector`: objects whose condition has this status, or does not have it. */
export interface StatusSelector {
  /** The condition's type as conditions spell it: `Ready` for `ready`. */
  readonly type: string;
  /** In lower case. */
  readonly status: string;
  readonly negated: boolean;
}

/** Reads `type=status` or `type!=status`, in any case of letters. */
export function parseStatusSelector(text: string): StatusSelector {
  const [, type, not, status] = /^([^=!]+)(!?)=([^=!]+)$/.exec(text) ?? [];
  if (type === undefined || status === undefined) {
    throw new Error(`expected status selector in type=status or type!=status format, but found: ${text}`);
  }
  const lower = type.toLowerCase();
  return { type: lower.slice(0, 1).toUpperCase() + lower.slice(1), status: status.toLowerCase(), negated: not === "!" };
}

/** Cuts commits and digests, runs of 40 to 128 hexadecimal digits, to their first eight, as flux does in its tables. Paths of webhooks stay. */
export function shortenHashes(text: string): string {
  return text.replaceAll(/(?<![0-9a-fA-F]|\/hook\/)([0-9a-fA-F]{8})[0-9a-fA-F]{32,120}(?![0-9a-fA-F])/g, "$1");
}
