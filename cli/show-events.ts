import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredKustomization } from "../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { ListQuery } from "../lib/core/ports/cluster.ts";
import { hasEvents, kindCalled } from "./event-kinds.ts";
import { eventRow, eventTime } from "./event-row.ts";
import { hintElsewhere, withHint } from "./hint-elsewhere.ts";
import { columnLook } from "./looks.ts";
import { generatedChartOf, sourceOf } from "./object-source.ts";
import { textAt } from "./objects/read-object.ts";
import { type Session, TimeIsUp } from "./session.ts";
import { table } from "./table.ts";
import { printVersions } from "./watch-again.ts";

export interface EventsOptions {
  readonly allNamespaces?: boolean;
  readonly watch?: boolean;
  /** `Kind` or `Kind/name`. */
  readonly for?: string;
  readonly types?: readonly string[];
  /** `wide`: messages are not cut to the width of the screen. */
  readonly output?: "wide";
}

/** `events`: the events of Flux's kinds, oldest first. */
export async function showEvents(
  kinds: readonly KindDeclaration[],
  options: EventsOptions,
  session: Session,
): Promise<void> {
  const { cluster, namespace, terminal, signal } = session;
  const types = (options.types ?? []).map(knownType);
  const own: ListQuery = {
    group: "",
    version: "v1",
    kind: "Event",
    ...(options.allNamespaces === true ? {} : { namespace }),
  };
  const queries = options.for === undefined ? [own] : await queriesFor(options.for, own, kinds, session);
  const showNamespace = options.allNamespaces === true || queries.some((query) => query.namespace !== namespace);
  const isShown = (event: LiveObject) =>
    hasEvents(textAt(event, "involvedObject", "kind"), kinds) &&
    (types.length === 0 || types.includes(textAt(event, "type").toLowerCase()));
  const header = [...(showNamespace ? ["Namespace"] : []), "Last seen", "Type", "Reason", "Object", "Message"];

  const columns = options.output === "wide" ? undefined : terminal.columns();
  const look = columnLook(header.indexOf("Type"), { Warning: "yellow" });
  if (options.watch === true) {
    let pending: readonly string[] | undefined = header;
    const print = (event: LiveObject) => {
      terminal.out(table(pending, [eventRow(event, showNamespace, Date.now())], columns), look);
      pending = undefined;
    };
    await Promise.all(queries.map((query) => follow(query, isShown, print, session)));
    return;
  }
  const found = (await Promise.all(queries.map((query) => cluster.list(query, signal)))).flat().filter(isShown);
  if (found.length === 0) {
    const hint = options.allNamespaces === true ? "" : await hintElsewhere(declaredKustomization, undefined, session);
    const where = options.allNamespaces === true ? "" : ` in ${namespace} namespace`;
    terminal.failure(withHint(`No events found${where}.`, hint));
    return;
  }
  const sorted = found.toSorted((a, b) => eventTime(a) - eventTime(b) || storedBefore(a, b));
  const now = Date.now();
  terminal.out(
    table(
      header,
      sorted.map((event) => eventRow(event, showNamespace, now)),
      columns,
    ),
    look,
  );
}

/** Times of events are whole seconds: within a second, events are in the order in which the cluster stored them. */
function storedBefore(a: LiveObject, b: LiveObject): number {
  return Number(a.metadata.resourceVersion ?? 0) - Number(b.metadata.resourceVersion ?? 0) || 0;
}

async function follow(
  query: ListQuery,
  isShown: (event: LiveObject) => boolean,
  print: (event: LiveObject) => void,
  session: Session,
): Promise<void> {
  try {
    await printVersions(
      query,
      (event) => {
        if (isShown(event)) print(event);
      },
      session,
    );
  } catch (error) {
    // As with flux, the end of a watch at its time limit is not an error.
    if (!(error instanceof TimeIsUp)) throw error;
  }
}

/** The queries for the events of an object and of its source; of a HelmRelease with `spec.chart` also those of its HelmChart. */
async function queriesFor(
  selector: string,
  own: ListQuery,
  kinds: readonly KindDeclaration[],
  session: Session,
): Promise<readonly ListQuery[]> {
  const [kindText = "", name = ""] = selector.split("/");
  if (kindText === "") throw new Error("--for selector must be of format <kind>[/<name>]");
  const kind = kindCalled(kindText, kinds);
  const queries = [{ ...own, fieldSelector: fieldSelectorOf(kind.kind, name) }];
  if (name === "" || kind.sourceRefs === undefined) return queries;
  const ref = { ...servedKind(kind), namespace: session.namespace, name };
  const object = await session.cluster.get(ref, session.signal);
  if (object === undefined) {
    const absent = `${kind.kind} object '${name}' not found in "${session.namespace}" namespace`;
    // The events of a deleted object say what it left behind. Its source is not known any more.
    const [last] = (await Promise.all(queries.map((query) => session.cluster.list(query, session.signal)))).flat();
    if (last === undefined) throw new Error(absent);
    session.terminal.warning(`${absent}: these are its last events`);
    return queries;
  }
  for (const source of [generatedChartOf(kind, object), sourceOf(kind, object)]) {
    if (source === undefined) continue;
    const { namespace } = source;
    queries.push({ ...own, namespace, fieldSelector: fieldSelectorOf(source.kind, source.name) });
  }
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
