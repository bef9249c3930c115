import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { withoutMends } from "../../doubles/without-mends.ts";
import { requestedAt, type Scope, type Side, sourcesOf } from "./side.ts";

/** What a step leaves: the status of every source, and the events. */
export interface Left {
  /** Lines of each source, by `KIND/NAME`. */
  readonly sources: Readonly<Record<string, readonly string[]>>;
  readonly events: readonly string[];
}

const Condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string(),
  message: z.string(),
  observedGeneration: z.number().exactOptional(),
});
const Status = z.looseObject({
  conditions: z.array(Condition).exactOptional(),
  lastHandledReconcileAt: z.string().exactOptional(),
});
const Event = z.looseObject({
  involvedObject: z.looseObject({ kind: z.string().exactOptional(), name: z.string().exactOptional() }),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
});

/** What differs from run to run, or between temporary folders and the files of an artifact: docs/differences-from-flux.md, "Paths of files". */
const replaced: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/[^ '"]*\/(?:\w+repository|helmchart|bucket|chart-[a-z]*)-[\w-]*?\d{5,}(?:\/|(?=[ :'"]))/g, ""],
  [/127\.0\.0\.1:\d+->127/g, "<port>->127"],
  [/\(Client\.Timeout[^)]*\)/g, "(timeout)"],
  [/ on [\d.]+:53(?=: no such host)/g, ""],
];

const textOf = (text: string): string =>
  replaced.reduce((left, [pattern, by]) => left.replaceAll(pattern, by), withoutMends(text));

export async function look(side: Side, scope: Scope, signal: AbortSignal): Promise<Left> {
  const live = await sourcesOf(side, scope, signal);
  const sources = Object.fromEntries(live.map((one) => [`${one.kind}/${one.metadata.name}`, linesOf(one)]));
  const listed = await side.cluster.list(
    { group: "", version: "v1", kind: "Event", namespace: scope.namespace },
    signal,
  );
  return { sources, events: [...new Set(listed.flatMap((one) => eventText(one)))].toSorted() };
}

/**
 * Without those that Sluice does not write (docs/differences-from-flux.md, "Smaller differences"), and that say that nothing has changed.
 * Without the revision: client-go merges events with the same message, and keeps the revision of the first.
 */
function eventText(live: LiveObject): readonly string[] {
  const { involvedObject, type, reason, message } = Event.parse(live);
  if (reason === "ArtifactUpToDate" || reason === "GarbageCollectionSucceeded") return [];
  if (type === "Normal" && reason === "AuthenticationFailed") return [];
  const { kind = "", name = "" } = involvedObject;
  const text = textOf(message.replace(/^\(combined from similar events\): /, ""));
  return [`${kind}/${name} ${type} ${reason}: ${text}`];
}

const statusOf = (live: LiveObject) => Status.parse(isJsonObject(live["status"]) ? live["status"] : {});

function linesOf(live: LiveObject): readonly string[] {
  const { conditions = [], lastHandledReconcileAt, url: _url, ...others } = statusOf(live);
  const texts = conditions.map(
    ({ type, status, reason, message, observedGeneration }) =>
      `${type}=${status} ${reason} (${observedGeneration}): ${textOf(message)}`,
  );
  const isPacked = conditions.some(({ reason }) => reason.startsWith("ChartPackage"));
  const rest = Object.entries(others).map(([key, value]) => `${key}: ${JSON.stringify(comparable(value, isPacked))}`);
  const isHandled = lastHandledReconcileAt === live.metadata.annotations?.[requestedAt];
  const finalizers = `finalizers: ${JSON.stringify(live.metadata["finalizers"] ?? [])}`;
  return [...texts, ...rest, `isHandled: ${isHandled}`, finalizers].toSorted();
}

/** The bytes of what is packed again differ, since Go's gzip is another: the name of such an artifact is compared, without digest and size. */
function comparable(value: unknown, isPacked: boolean): unknown {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value)) return value.map((one) => comparable(one, isPacked));
  if (!isJsonObject(value)) return value;
  const { path } = value;
  const isRepacked = isPacked || (typeof path === "string" && path.endsWith(".tar.gz"));
  const varying = new Set(["lastUpdateTime", "url", ...(isRepacked ? ["digest", "size"] : [])]);
  const kept = Object.entries(value).filter(([key]) => !varying.has(key));
  return Object.fromEntries(
    kept.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, comparable(one, isPacked)]),
  );
}

/** Whether it has handled the last request to its end. */
export function isOver(live: LiveObject): boolean {
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const spec: JsonObject = isJsonObject(live["spec"]) ? live["spec"] : {};
  // It has no status.
  if (live.kind === "HelmRepository" && spec["type"] === "oci") return true;
  const { conditions = [], lastHandledReconcileAt } = statusOf(live);
  if (lastHandledReconcileAt !== live.metadata.annotations?.[requestedAt]) return false;
  if (spec["suspend"] === true) return true;
  const ready = conditions.find(({ type }) => type === "Ready");
  const reconciling = conditions.find(({ type }) => type === "Reconciling");
  if (ready === undefined || ready.status === "Unknown" || reconciling?.reason === "Progressing") return false;
  return ready.observedGeneration === live.metadata.generation;
}
