import type { IncomingMessage } from "node:http";
import { backOffMs } from "../core/back-off.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type ListQuery, type Resource, type WatchEvent } from "../core/ports/cluster.ts";
import { errorOfStatus } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";
import { linesOf } from "./lines-of.ts";
import { listPages } from "./list-pages.ts";
import { listItem, liveObject } from "./live-object.ts";
import { collectionPath } from "./resource-path.ts";

/** The server ends a watch after this time; ours goes on where it was. */
const watchSeconds = 240;
/** A connection over which nothing comes for longer than the server would keep it has died unnoticed. */
const silenceMs = (watchSeconds + 30) * 1000;
/** Objects are at most 3 MB, and the server repeats their managed fields. */
export const maxEventBytes = 16 * 1024 * 1024;
/** As client-go has it: a watch that ended sooner and told nothing was not ended by the server, but by something on the way. */
const shortWatchMs = 1_000;
/** Whoever watches waits no longer than that for what happened meanwhile. */
const maxPauseMs = 10_000;
const initialEventsEnd = "k8s.io/initial-events-end";

/** {@link Cluster.watch}: a streaming list where the server has one, else a list and a watch from its state. */
export async function* watchEvents(
  { client, clock }: { readonly client: ApiClient; readonly clock: Pick<Clock, "monotonic" | "sleep"> },
  resource: Resource,
  query: ListQuery,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, never> {
  const selectors = { labelSelector: query.labelSelector, fieldSelector: query.fieldSelector };
  const open = (position: Readonly<Record<string, string>>) =>
    client.open(
      {
        verb: "watch",
        method: "GET",
        path: collectionPath(resource, query.namespace),
        query: {
          ...selectors,
          watch: "1",
          allowWatchBookmarks: "true",
          timeoutSeconds: String(watchSeconds),
          ...position,
        },
        repeatable: true,
      },
      signal,
    );

  let position: string | undefined;
  let isListed = false;
  let shortWatches = 0;
  let stream: IncomingMessage | undefined;
  try {
    stream = await open({ sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" });
  } catch (error) {
    if (!isStreamingListRefused(error)) throw error;
    const listing = await listPages(client, resource, query, "application/json", signal);
    for (const item of listing.items) yield { type: "ADDED", object: listItem(item, query) };
    position = listing.resourceVersion;
    isListed = true;
    yield { type: "BOOKMARK", resourceVersion: position, initialEventsEnd: true };
  }
  for (;;) {
    const startedAt = clock.monotonic();
    stream ??= await open(position === undefined ? {} : { resourceVersion: position });
    let isShort = true;
    for await (const event of eventsOf(stream, signal)) {
      if (event.type !== "BOOKMARK") isShort = false;
      position = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
      if (event.type === "BOOKMARK" && event.initialEventsEnd) isListed = true;
      yield event;
    }
    // The list goes by names, so the position inside it is one object's and not the list's: there is nothing to go on from.
    if (!isListed) {
      const message = "the cluster ended a watch before it had told all that is there; watch again";
      throw new ApiError({ code: 0, reason: "Unreachable", message });
    }
    stream = undefined;
    isShort &&= clock.monotonic() - startedAt < shortWatchMs;
    if (isShort) await clock.sleep(Math.min(backOffMs(shortWatches), maxPauseMs), signal);
    shortWatches = isShort ? shortWatches + 1 : 0;
  }
}

/** A server without streaming lists refuses the parameters: as invalid, or because it wants a resourceVersion for them. */
function isStreamingListRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 422 || error.code === 400);
}

async function* eventsOf(stream: IncomingMessage, signal: AbortSignal): AsyncGenerator<WatchEvent> {
  stream.setTimeout(silenceMs, () => stream.destroy(new Error(`nothing came for ${silenceMs / 1000}s`)));
  try {
    for await (const line of linesOf(stream, maxEventBytes)) {
      if (line !== "") yield eventOf(line);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    throw new ApiError({ code: 0, reason: "Unreachable", message: "the cluster broke off a watch" }, { cause: error });
  } finally {
    stream.destroy();
  }
  signal.throwIfAborted();
  if (!stream.complete) {
    const message = "the cluster broke off a watch";
    throw new ApiError({ code: 0, reason: "Unreachable", message });
  }
}

function eventOf(line: string): WatchEvent {
  const { type, object } = eventParts(line);
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: liveObject(object) };
    case "BOOKMARK": {
      const metadata = isJsonObject(object["metadata"]) ? object["metadata"] : {};
      const { annotations, resourceVersion } = metadata;
      return {
        type: "BOOKMARK",
        resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "",
        initialEventsEnd: isJsonObject(annotations) && annotations[initialEventsEnd] === "true",
      };
    }
    default:
      throw errorOfStatus(object, 500);
  }
}

function eventParts(line: string): { readonly type: unknown; readonly object: JsonObject } {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw new ApiError({ code: 0, reason: "Unreachable", message: "a watch gave a broken line" }, { cause: error });
  }
  if (isJsonObject(event) && isJsonObject(event["object"])) return { type: event["type"], object: event["object"] };
  throw new ApiError({ code: 200, reason: "InternalError", message: "a watch gave a line that is no event" });
}
