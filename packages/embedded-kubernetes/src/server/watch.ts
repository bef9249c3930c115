import { isJsonObject, type JsonObject } from "../core/json.ts";
import { apiVersionOf, type Resource } from "../resource/resource.ts";
import type { StoreEvent } from "../store/history.ts";
import type { StoredObject } from "../store/stored-object.ts";
import type { Cluster } from "./cluster.ts";
import { expired, internal } from "./errors.ts";
import type { ListOptions } from "./list-options.ts";
import { badRevision, matches, readPage } from "./read-list.ts";
import { failureStatus } from "./status.ts";

/** How a watch writes one object. */
export type WriteObject = (stored: StoredObject) => string;

export interface Watch {
  readonly cluster: Cluster;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly options: ListOptions;
  readonly writeObject: WriteObject;
  /** Writes one line; answers whether the client keeps up. */
  readonly send: (line: string) => boolean;
  /** Ends the stream. */
  readonly end: () => void;
}

const bookmarkEveryMs = 60_000;
/** Without `timeoutSeconds` a watch ends after 30 to 60 minutes, as in the real server, at random so that not all end at once. */
const defaultTimeout = { minMs: 1_800_000, spreadMs: 1_800_000 };

/**
 * Starts a watch that runs until its timeout or until `stop` is called.
 *
 * @throws {StatusError} before anything is sent
 */
export function startWatch(watch: Watch): { stop(): void } {
  const { cluster, options } = watch;
  const from = fromRevision(options);
  const { store } = cluster;
  if (from !== undefined && from > 0 && from < store.oldestRevision()) {
    watch.send(eventLine("ERROR", JSON.stringify(failureStatus(expired(from, store.oldestRevision())))));
    watch.end();
    return { stop: () => {} };
  }
  const sendsInitial = options.sendInitialEvents || from === undefined || from === 0;
  if (sendsInitial) sendInitial(watch);
  else for (const event of store.eventsAfter(from)) sendEvent(watch, event, from);

  const unsubscribe = store.subscribe((event) => {
    // In the future: silence until that revision has passed.
    if (from === undefined || event.revision > from) sendEvent(watch, event, from ?? 0);
  });
  const timeoutMs =
    options.timeoutSeconds === undefined || options.timeoutSeconds <= 0
      ? defaultTimeout.minMs + Math.random() * defaultTimeout.spreadMs
      : options.timeoutSeconds * 1000;
  const timer = setTimeout(finish, timeoutMs);
  const bookmarks = options.allowWatchBookmarks
    ? setInterval(() => watch.send(bookmark(watch, store.revision())), bookmarkEveryMs)
    : undefined;
  // A process that wants to end must not wait for its watches.
  timer.unref();
  bookmarks?.unref();

  function stop(): void {
    unsubscribe();
    clearTimeout(timer);
    clearInterval(bookmarks);
  }
  function finish(): void {
    stop();
    if (options.allowWatchBookmarks) watch.send(bookmark(watch, store.revision()));
    watch.end();
  }
  return { stop };
}

function fromRevision({ resourceVersion }: ListOptions): number | undefined {
  if (resourceVersion === "") return undefined;
  if (!/^\d+$/.test(resourceVersion)) throw internal(badRevision(resourceVersion));
  return Number(resourceVersion);
}

function sendInitial(watch: Watch): void {
  const { cluster, resource, namespace, options } = watch;
  const whole = { ...options, limit: 0, continue: "", resourceVersion: "", resourceVersionMatch: "" };
  const { items, revision } = readPage(cluster, resource, namespace, whole, false);
  for (const stored of items) watch.send(eventLine("ADDED", watch.writeObject(stored)));
  if (options.sendInitialEvents && options.allowWatchBookmarks) {
    watch.send(bookmark(watch, revision, { "k8s.io/initial-events-end": "true" }));
  }
}

/** With a selector an object that begins to match is ADDED and one that stops is DELETED, as it last matched. */
function sendEvent(watch: Watch, event: StoreEvent, from: number): void {
  const { resource, namespace, options } = watch;
  if (event.resource !== resource.key || event.revision <= from) return;
  if (namespace !== undefined && event.namespace !== namespace) return;
  const is = event.type !== "DELETED" && matches(event.current, resource, options.labels, options.fields);
  const was = event.previous !== undefined && matches(event.previous, resource, options.labels, options.fields);
  if (!is && !was) return;
  if (is) {
    watch.send(eventLine(was ? "MODIFIED" : "ADDED", watch.writeObject(event.current)));
    return;
  }
  const last = event.type === "DELETED" ? event.current : atRevision(event.previous ?? event.current, event.revision);
  watch.send(eventLine("DELETED", watch.writeObject(last)));
}

/** The object as it was, with the resourceVersion of the event. */
function atRevision(stored: StoredObject, revision: number): StoredObject {
  const metadata: unknown = JSON.parse(stored.metadata);
  const renewed = { ...(isJsonObject(metadata) ? metadata : {}), resourceVersion: String(revision) };
  return { ...stored, revision, metadata: JSON.stringify(renewed) };
}

function bookmark({ resource }: Watch, revision: number, annotations?: JsonObject): string {
  const metadata = { resourceVersion: String(revision), ...(annotations === undefined ? {} : { annotations }) };
  return eventLine("BOOKMARK", JSON.stringify({ kind: resource.kind, apiVersion: apiVersionOf(resource), metadata }));
}

function eventLine(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}
