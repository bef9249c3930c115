import { formatJson, isJsonObject, type JsonObject } from "../core/json.ts";
import { bytesInMemory } from "../core/json-text.ts";
import { ApiError, type ListQuery, type Resource } from "../core/ports/cluster.ts";
import { AnswerTooLong, type Held } from "./answer-limits.ts";
import { unreadable } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";
import { collectionPath } from "./discovery.ts";
import { maxListedObjects, parseList } from "./list-answer.ts";
import type { Answer } from "./transport.ts";

/** Asks for a list of metadata alone. */
const metadataListOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const pageSize = 500;
const maxRestarts = 3;
/** One after the other. A server that filters what it reads may have some. */
export const maxEmptyPages = 100;

export interface Listing {
  readonly items: readonly JsonObject[];
  /** The state that the list shows. A watch continues from it. */
  readonly resourceVersion: string;
}

/**
 * All matching objects, with one request for each page. If the server has dropped the state of the first page meanwhile (410),
 * the whole list is read again. Pages that are too long are asked for with fewer objects.
 *
 * @param parts `metadata`: nothing else of the objects is asked for, nor kept
 */
export async function listPages(
  client: Pick<ApiClient, "budget" | "expect">,
  resource: Resource,
  query: ListQuery,
  parts: "metadata" | "whole",
  signal: AbortSignal,
): Promise<Listing> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await readPages(client, resource, query, parts, signal);
    } catch (error) {
      const hasExpired = error instanceof ApiError && error.code === 410;
      if (!hasExpired || restarts >= maxRestarts) throw error;
    }
  }
}

async function readPages(
  client: Pick<ApiClient, "budget" | "expect">,
  resource: Resource,
  { namespace, labelSelector, fieldSelector }: ListQuery,
  parts: "metadata" | "whole",
  signal: AbortSignal,
): Promise<Listing> {
  const path = collectionPath(resource, namespace);
  const accept = parts === "metadata" ? metadataListOnly : "application/json";
  const refused = (what: string) =>
    new ApiError({ code: 200, reason: "InternalError", message: `the cluster${what} at ${path}` });
  using kept = keptOf(client.budget.lists, refused);
  const items: JsonObject[] = [];
  let emptyPages = 0;
  let limit = pageSize;
  let next: string | undefined;
  for (;;) {
    const page = { limit: String(limit), continue: next, labelSelector, fieldSelector };
    const request = { verb: "list", method: "GET", path, query: page, accept, repeatable: true } as const;
    let answer: Answer;
    try {
      answer = await client.expect(request, signal);
    } catch (error) {
      if (limit === 1 || !(error instanceof ApiError && error.cause instanceof AnswerTooLong)) throw error;
      limit = Math.ceil(limit / 10);
      continue;
    }
    const list = await listOf(answer, signal);
    // An empty page may have null for its items.
    const found = list["items"] ?? [];
    const metadata = list["metadata"];
    if (!Array.isArray(found) || !isJsonObject(metadata)) {
      throw new ApiError({
        code: 200,
        reason: "InternalError",
        message: `the cluster's answer to ${path} is not a list`,
      });
    }
    if (items.length + found.length > maxListedObjects) throw refused(` has more than ${maxListedObjects} objects`);
    const objects = found.filter(isJsonObject);
    const used = parts === "metadata" ? objects.map(metadataOf) : objects;
    kept.add(() => bytesInMemory(parts === "metadata" ? formatJson(used) : answer.text));
    for (const item of used) items.push(item);
    const token = textOf(metadata["continue"]);
    if (token === undefined) return { items, resourceVersion: textOf(metadata["resourceVersion"]) ?? "" };
    emptyPages = found.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages > maxEmptyPages) throw refused(`'s list does not end: it gave ${emptyPages} empty pages`);
    next = token;
  }
}

async function listOf(answer: Answer, signal: AbortSignal): Promise<JsonObject> {
  try {
    const list = await parseList(answer.text, signal);
    if (isJsonObject(list)) return list;
  } catch (error) {
    signal.throwIfAborted();
    throw unreadable(answer, error);
  }
  throw unreadable(answer);
}

/** Some servers answer whole objects whatever they are asked for. */
function metadataOf({ apiVersion, kind, metadata }: JsonObject): JsonObject {
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** What this list adds to all that is held of lists of the cluster, until it is read. */
function keptOf(held: Held, refused: (what: string) => ApiError): Disposable & { add(bytesOf: () => number): void } {
  let own = 0;
  return {
    add(bytesOf) {
      if (held.max === Infinity) return;
      const bytes = bytesOf();
      own += bytes;
      held.bytes += bytes;
      if (held.bytes > held.max) throw refused(` has lists of more than ${held.max} bytes`);
    },
    [Symbol.dispose]() {
      held.bytes -= own;
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
