import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { ListQuery } from "../lib/core/ports/cluster.ts";
import { eventRow, eventTime } from "./event-row.ts";
import { fluxKindOf, knownKind } from "./flux-kinds.ts";
import { hintElsewhere } from "./hint-elsewhere.ts";
import { kustomizations, textAt } from "./reconcilable.ts";
import { type Session, TimeIsUp } from "./settings.ts";
import { table } from "./table.ts";

export interface EventsOptions {
  readonly allNamespaces?: boolean;
  readonly watch?: boolean;
  /** `Kind` or `Kind/name`. */
  readonly for?: string;
  readonly types?: readonly string[];
}

/** `events`: what has happened to Flux's kinds, oldest first. */
export async function showEvents(options: EventsOptions, session: Session): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const types = (options.types ?? []).map(knownType);
  const own: ListQuery = {
    group: "",
    version: "v1",
    kind: "Event",
    ...(options.allNamespaces === true ? {} : { namespace }),
  };
  const queries = options.for === undefined ? [own] : await queriesFor(options.for, own, session);
  const showNamespace = options.allNamespaces === true || queries.some((query) => query.namespace !== namespace);
  const isShown = (event: LiveObject) =>
    fluxKindOf(textAt(event, "involvedObject", "kind")) !== undefined &&
    (types.length === 0 || types.includes(textAt(event, "type").toLowerCase()));
  const header = [...(showNamespace ? ["Namespace"] : []), "Last seen", "Type", "Reason", "Object", "Message"];

  if (options.watch === true) {
    let pending: readonly string[] | undefined = header;
    const print = (event: LiveObject) => {
      terminal.out(table(pending, [eventRow(event, showNamespace, Date.now())]));
      pending = undefined;
    };
    await Promise.all(queries.map((query) => follow(query, isShown, print, session)));
    return;
  }
  const found = (await Promise.all(queries.map((query) => cluster.list(query, signal)))).flat().filter(isShown);
  if (found.length === 0) {
    if (options.allNamespaces !== true) await hintElsewhere(kustomizations, undefined, session);
    terminal.failure(
      options.allNamespaces === true ? "No events found." : `No events found in ${namespace} namespace.`,
    );
    return;
  }
  const sorted = found.toSorted((a, b) => eventTime(a) - eventTime(b) || storedBefore(a, b));
  const now = Date.now();
  terminal.out(
    table(
      header,
      sorted.map((event) => eventRow(event, showNamespace, now)),
    ),
  );
}

/** Times of events are whole seconds; within one, the order in which the cluster stored them says more than their names. */
function storedBefore(a: LiveObject, b: LiveObject): number {
  return Number(a.metadata.resourceVersion ?? 0) - Number(b.metadata.resourceVersion ?? 0) || 0;
}

async function follow(
  query: ListQuery,
  isShown: (event: LiveObject) => boolean,
  print: (event: LiveObject) => void,
  { cluster, signal }: Session,
): Promise<void> {
  try {
    for await (const event of cluster.watch(query, signal)) {
      if (event.type !== "BOOKMARK" && event.type !== "DELETED" && isShown(event.object)) print(event.object);
    }
  } catch (error) {
    // As with flux, a watch that has lasted as long as it may is no error.
    if (!(error instanceof TimeIsUp)) throw error;
  }
}

/** The events of the object, and those of the object that it takes its content from. */
async function queriesFor(selector: string, own: ListQuery, session: Session): Promise<readonly ListQuery[]> {
  const [kindText = "", name = ""] = selector.split("/");
  if (kindText === "") throw new Error("--for selector must be of format <kind>[/<name>]");
  const kind = knownKind(kindText);
  const queries = [{ ...own, fieldSelector: fieldSelectorOf(kind.kind, name) }];
  if (name === "" || kind.refersTo === undefined) return queries;
  const { group, version } = kind;
  const ref = { group, version, kind: kind.kind, namespace: session.namespace, name };
  const object = await session.cluster.get(ref, session.signal);
  if (object === undefined)
    throw new Error(`${kind.kind} object '${name}' not found in "${session.namespace}" namespace`);
  const referred = kind.refersTo.reduce<unknown>((part, key) => (isJsonObject(part) ? part[key] : undefined), object);
  if (!isJsonObject(referred)) return queries;
  const namespace = textAt(referred, "namespace");
  queries.push({
    ...own,
    namespace: namespace === "" ? session.namespace : namespace,
    fieldSelector: fieldSelectorOf(textAt(referred, "kind"), textAt(referred, "name")),
  });
  return queries;
}

function fieldSelectorOf(kind: string, name: string): string {
  return [`involvedObject.kind=${kind}`, ...(name === "" ? [] : [`involvedObject.name=${name}`])].join(",");
}

function knownType(type: string): string {
  const lower = type.toLowerCase();
  if (lower === "normal" || lower === "warning") return lower;
  throw new Error(`type '${type}' not supported. Supported types are Normal, Warning`);
}
