import {
  type KindDeclaration,
  type KindWords,
  readyConditionOf,
  type ShownColumn,
} from "../lib/api/kinds/declaration.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { conditionLook } from "./looks.ts";
import type { DocumentFormat, ObjectPrinter } from "./object-documents.ts";
import { sourceOf } from "./object-source.ts";
import { isSuspended, readinessOf, revisionOf, shownAt, textAt } from "./objects/read-object.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface RowOptions {
  readonly allNamespaces?: boolean;
  /** Commander's name for `--no-header`. */
  readonly header: boolean;
  readonly showSource?: boolean;
  /** `wide`: all columns, and messages that are not cut to the width of the screen. The others print no table. */
  readonly output?: "wide" | DocumentFormat;
  /** The address of the webhooks, before their path; absent if it is unknown. */
  readonly webhookUrl?: string | undefined;
}

/** Prints objects of a kind as a table of flux. */
export function rowPrinter(kind: KindDeclaration, options: RowOptions, terminal: Terminal): ObjectPrinter {
  const columns = options.output === "wide" ? undefined : terminal.columns();
  const titles = headerOf(kind, options);
  let header = options.header ? titles : undefined;
  const all = (objects: readonly LiveObject[]) => {
    const rows = objects.map((object) => rowOf(kind, object, options));
    terminal.out(table(header, rows, columns), conditionLook(titles.length - 2));
  };
  const next = (object: LiveObject) => {
    all([object]);
    header = undefined;
  };
  return { all, next };
}

function headerOf(kind: KindDeclaration, { allNamespaces, output, showSource }: RowOptions): readonly string[] {
  const titles = { revision: "Revision", suspended: "Suspended", source: "Source" };
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
  output: RowOptions["output"],
): readonly ShownColumn[] {
  return shown.filter((column) => typeof column === "string" || column.isWide !== true || output === "wide");
}

function rowOf(
  kind: KindDeclaration,
  object: LiveObject,
  { allNamespaces, output, showSource, webhookUrl }: RowOptions,
): readonly string[] {
  const { name, namespace = "" } = object.metadata;
  const ready = readinessOf(kind, object);
  const cells = {
    revision: shortenHashes(revisionOf(kind, object)),
    suspended: isSuspended(kind, object) ? "True" : "False",
    source: sourceText({ sourceRefs: [["spec", "sourceRef"]] }, object),
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

/** A message with the whole address in place of the path of the object's webhook: git hosts are given that. */
function withWebhook(message: string, object: LiveObject, webhookUrl: string | undefined): string {
  const path = textAt(object, "status", "webhookPath");
  if (webhookUrl === undefined || path === "") return message;
  return message.replaceAll(path, () => webhookUrl.replace(/\/+$/, "") + path);
}

/** `Kind/namespace/name` */
function sourceText(kind: Pick<KindDeclaration, "sourceRefs">, object: LiveObject): string {
  const source = sourceOf(kind, object);
  return source === undefined ? "" : `${source.kind}/${source.namespace}/${source.name}`;
}

/** Cuts commits and digests, runs of 40 to 128 hexadecimal digits, to their first eight, as flux does in its tables. Paths of webhooks stay. */
export function shortenHashes(text: string): string {
  return text.replaceAll(/(?<![0-9a-fA-F]|\/hook\/)([0-9a-fA-F]{8})[0-9a-fA-F]{32,120}(?![0-9a-fA-F])/g, "$1");
}
