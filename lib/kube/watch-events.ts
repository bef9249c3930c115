import type { IncomingMessage } from "node:http";
import { backOffMs } from "../core/failure.ts";
import { isJsonObject, type JsonObject, parseJson } from "../core/json.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Resource, type WatchEvent, type WatchQuery } from "../core/ports/cluster.ts";
import { errorOfStatus, listItem, liveObject } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";
import { collectionPath } from "./discovery.ts";
import { listPages } from "./list-pages.ts";

/** The server ends a watch after this time; then we continue from the same position. */
const watchSeconds = 240;
/** A connection that is silent for longer than the server keeps a watch is dead. */
const silenceMs = (watchSeconds + 30) * 1000;
/** An object has at most 3 MB, and the server repeats its managed fields. */
export const maxEventBytes = 16 * 1024 * 1024;
/** As in client-go: a watch that ends sooner, without an event, was ended by something between us and the server. */
const shortWatchMs = 1_000;
/** The longest pause between two watches, and so the longest delay of an event. */
const maxPauseMs = 10_000;
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const initialEventsEnd = "k8s.io/initial-events-end";

/** `Cluster.watch`: a streaming list if the server has one, else a list and a watch from its state. */
export async function* watchEvents(
  { client, clock }: { readonly client: ApiClient; readonly clock: Pick<Clock, "monotonic" | "sleep"> },
  resource: Resource,
  query: WatchQuery,
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
        ...(query.isMetadataOnly === true ? { accept: metadataOnly } : {}),
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
    const listing = await listPages(
      client,
      resource,
      query,
      query.isMetadataOnly === true ? "metadata" : "whole",
      signal,
    );
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
    // Inside the initial list the position is that of one object and not of the list, so a watch cannot continue from it.
    if (!isListed) {
      const message = "the cluster ended a watch before it had sent all existing objects; watch again";
      throw new ApiError({ code: 0, reason: "Unreachable", message });
    }
    stream = undefined;
    isShort &&= clock.monotonic() - startedAt < shortWatchMs;
    if (isShort) await clock.sleep(Math.min(backOffMs(shortWatches), maxPauseMs), signal);
    shortWatches = isShort ? shortWatches + 1 : 0;
  }
}

/** A server without streaming lists refuses the parameters as invalid, or requires a resourceVersion with them. */
function isStreamingListRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 422 || error.code === 400);
}

async function* eventsOf(stream: IncomingMessage, signal: AbortSignal): AsyncGenerator<WatchEvent> {
  stream.setTimeout(silenceMs, () => stream.destroy(new Error(`no data for ${silenceMs / 1000}s`)));
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
    event = parseJson(line);
  } catch (error) {
    throw new ApiError({ code: 0, reason: "Unreachable", message: "a line of a watch is not JSON" }, { cause: error });
  }
  if (isJsonObject(event) && isJsonObject(event["object"])) return { type: event["type"], object: event["object"] };
  throw new ApiError({ code: 200, reason: "InternalError", message: "a line of a watch is not an event" });
}

/** The lines of a stream of UTF-8, without their ends. Throws a `RangeError` for a line of more than `maxBytes`. */
export async function* linesOf(stream: AsyncIterable<unknown>, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const flush = (): string => {
    const line = Buffer.concat(parts, bytes).toString("utf8");
    parts = [];
    bytes = 0;
    return line;
  };
  const keep = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
    parts.push(part);
  };
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("a stream without encoding gives bytes");
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      keep(chunk.subarray(start, end));
      yield flush();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (bytes > 0) yield flush();
}
