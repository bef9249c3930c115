import { isJsonObject, type JsonObject } from "../core/json.ts";
import { ApiError, type ListQuery, type Resource } from "../core/ports/cluster.ts";
import { jsonOf } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";
import { collectionPath } from "./resource-path.ts";

const pageSize = "500";
const maxRestarts = 3;

/** Of one list, all pages together: they are held in memory. */
export const maxListedObjects = 500_000;

export interface Listing {
  readonly items: readonly JsonObject[];
  /** The state that the list shows, from which a watch goes on. */
  readonly resourceVersion: string;
}

/**
 * All matching objects, page by page, each page a request of its own. Where the server has forgotten the state of the first
 * page meanwhile (410), the whole list is read again.
 */
export async function listPages(
  client: Pick<ApiClient, "expect">,
  resource: Resource,
  query: ListQuery,
  accept: string,
  signal: AbortSignal,
): Promise<Listing> {
  for (let restarts = 0; ; restarts++) {
    try {
      return await readPages(client, resource, query, accept, signal);
    } catch (error) {
      const hasExpired = error instanceof ApiError && error.code === 410;
      if (!hasExpired || restarts >= maxRestarts) throw error;
    }
  }
}

async function readPages(
  client: Pick<ApiClient, "expect">,
  resource: Resource,
  { namespace, labelSelector, fieldSelector }: ListQuery,
  accept: string,
  signal: AbortSignal,
): Promise<Listing> {
  const path = collectionPath(resource, namespace);
  const items: JsonObject[] = [];
  let next: string | undefined;
  for (;;) {
    const page = { limit: pageSize, continue: next, labelSelector, fieldSelector };
    const request = { verb: "list", method: "GET", path, query: page, accept, repeatable: true } as const;
    const list = jsonOf(await client.expect(request, signal));
    // A page that is empty may say so with null.
    const found = list["items"] ?? [];
    const metadata = list["metadata"];
    if (!Array.isArray(found) || !isJsonObject(metadata)) {
      throw new ApiError({ code: 200, reason: "InternalError", message: `the cluster's answer to ${path} is no list` });
    }
    if (items.length + found.length > maxListedObjects) {
      const message = `the cluster has more than ${maxListedObjects} objects at ${path}`;
      throw new ApiError({ code: 200, reason: "InternalError", message });
    }
    for (const item of found) if (isJsonObject(item)) items.push(item);
    next = textOf(metadata["continue"]);
    if (next === undefined) return { items, resourceVersion: textOf(metadata["resourceVersion"]) ?? "" };
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
