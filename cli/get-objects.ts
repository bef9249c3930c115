import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredReceiver } from "../lib/api/kinds/receiver.ts";
import { ApiError, type ListQuery } from "../lib/core/ports/cluster.ts";
import { webhookUrlOf } from "../lib/gate/cluster-owner.ts";
import { hintElsewhere, withHint } from "./hint-elsewhere.ts";
import { documentPrinter, type ObjectPrinter } from "./object-documents.ts";
import { type RowOptions, rowPrinter } from "./object-rows.ts";
import { warnIfPaused } from "./pause-cluster.ts";
import { type Session, TimeIsUp } from "./session.ts";
import { selectedBy } from "./status-selector.ts";
import { printVersions } from "./watch-again.ts";

export interface GetOptions extends Omit<RowOptions, "webhookUrl"> {
  readonly watch?: boolean;
  readonly statusSelector?: string;
  readonly labelSelector?: string;
}

/** `get`: one row or document for each object, or with `--watch` for each event. */
export async function getObjects(
  kind: KindDeclaration,
  name: string | undefined,
  options: GetOptions,
  session: Session,
): Promise<void> {
  const { cluster, namespace, signal } = session;
  const isSelected = selectedBy(kind, options.statusSelector);
  const query: ListQuery = {
    ...queryOf(kind, options, session),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  };
  await warnIfPaused(session);
  const printer = await printerOf(kind, name, options, session);
  const where = options.allNamespaces === true ? "any" : `"${namespace}"`;
  if (options.watch === true) return watch(query, notFound(kind, name, where), { isSelected, printer }, session);
  const objects = await cluster.list(query, signal);
  // A program that asks for a list gets one, also an empty one, as from kubectl.
  const isFault = isTable(options) || name !== undefined;
  if (objects.length === 0 && isFault) {
    const hint = options.allNamespaces === true ? "" : await hintElsewhere(kind, name, session);
    throw new Error(withHint(notFound(kind, name, where), hint));
  }
  printer.all(objects.filter(isSelected));
}

async function watch(
  query: ListQuery,
  nothing: string,
  { isSelected, printer }: { isSelected: ReturnType<typeof selectedBy>; printer: ObjectPrinter },
  session: Session,
): Promise<void> {
  const print: ObjectPrinter["next"] = (object) => {
    if (isSelected(object)) printer.next(object);
  };
  try {
    await printVersions(query, print, session, () => session.terminal.waiting(`${nothing}: waiting for one`));
  } catch (error) {
    if (error instanceof TimeIsUp) throw new Error("timed out waiting for the condition", { cause: error });
    throw error;
  }
}

async function printerOf(
  kind: KindDeclaration,
  name: string | undefined,
  options: GetOptions,
  session: Session,
): Promise<ObjectPrinter> {
  const { allNamespaces, output } = options;
  if (output !== undefined && output !== "wide")
    return documentPrinter(output, name !== undefined && allNamespaces !== true, session.terminal);
  const webhookUrl = kind.kind === declaredReceiver.kind ? await readWebhookUrl(session) : undefined;
  return rowPrinter(kind, { ...options, webhookUrl }, session.terminal);
}

/** Whether `get` prints for people. */
export function isTable({ output }: GetOptions): boolean {
  return output === undefined || output === "wide";
}

/** What `get` asks the cluster for. */
export function queryOf(
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

/** Undefined if the address is unknown, or if the user may not read it: then only paths are shown. */
async function readWebhookUrl({ cluster, signal }: Session): Promise<string | undefined> {
  try {
    return await webhookUrlOf(cluster, signal);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function notFound({ kind }: KindDeclaration, name: string | undefined, where: string): string {
  return name === undefined
    ? `no ${kind} objects found in ${where} namespace`
    : `${kind} object '${name}' not found in ${where} namespace`;
}
