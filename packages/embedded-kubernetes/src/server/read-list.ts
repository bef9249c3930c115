import { StatusError } from "../core/api-object.ts";
import type { Resource } from "../resource/resource.ts";
import { parseLabels, parseMetadata, type StoredObject } from "../store/stored-object.ts";
import { type Cluster, parseAsked } from "./cluster.ts";
import { badRequest, expired } from "./errors.ts";
import { goJsonProblem } from "./go-json-problem.ts";
import type { ListOptions } from "./list-options.ts";

export interface Page {
  readonly items: readonly StoredObject[];
  readonly revision: number;
  readonly continue: string | undefined;
  readonly remainingItemCount: number | undefined;
}

/** Where a list goes on: after that object, in the state of that revision (-1: whatever is there now). */
interface Token {
  readonly rv: number;
  readonly start: string;
}

/** @throws {StatusError} 400, 410 or 504 */
export function readPage(
  cluster: Cluster,
  resource: Resource,
  namespace: string | undefined,
  options: ListOptions,
  metadataOnly: boolean,
): Page {
  const { store } = cluster;
  const token = options.continue === "" ? undefined : parseToken(options.continue);
  if (token !== undefined && options.resourceVersion !== "" && options.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const exact = exactRevision(options);
  if (token === undefined) checkRevision(options.resourceVersion, store.revision());
  const wanted = token === undefined ? exact : token.rv;
  if (wanted !== undefined && wanted >= 0 && wanted < store.oldestRevision()) {
    throw token === undefined ? expired(wanted, store.oldestRevision()) : continueExpired(token);
  }
  const revision = wanted === undefined || wanted < 0 ? store.revision() : wanted;
  const range = {
    resource: resource.key,
    namespace,
    after: token?.start,
    metadataOnly: metadataOnly && !needsBody(options),
  };
  const all = oneByName(cluster, resource, namespace, options, revision) ?? store.listAt(range, revision);
  const from = token === undefined ? all : all.filter((stored) => keyOf(stored, namespace) > token.start);
  const rest = selected(from, resource, options);
  // From the cache (resourceVersion 0) a list is always whole.
  const limit = options.resourceVersion === "0" && token === undefined ? 0 : options.limit;
  const items = limit === 0 ? rest : rest.slice(0, limit);
  const last = items.at(-1);
  // With a selector a page ends at its limit though nothing of the rest may match.
  if (limit === 0 || items.length < limit || last === undefined || last === from.at(-1)) {
    return { items, revision, continue: undefined, remainingItemCount: undefined };
  }
  const hasSelector = options.labels !== undefined || options.fields !== undefined;
  return {
    items,
    revision,
    continue: formatToken({ rv: revision, start: keyOf(last, namespace) }),
    remainingItemCount: hasSelector ? undefined : rest.length - limit,
  };
}

function needsBody({ fields }: ListOptions): boolean {
  return fields !== undefined && !fields.isMetadataOnly;
}

function selected(
  all: readonly StoredObject[],
  resource: Resource,
  { labels, fields }: ListOptions,
): readonly StoredObject[] {
  if (labels === undefined && fields === undefined) return all;
  return all.filter((stored) => matches(stored, resource, labels, fields));
}

/** `fieldSelector=metadata.name=x` is how one object is watched: no list for it. */
function oneByName(
  { store }: Cluster,
  resource: Resource,
  namespace: string | undefined,
  { fields }: ListOptions,
  revision: number,
): readonly StoredObject[] | undefined {
  const name = fields?.name;
  if (name === undefined || revision !== store.revision() || (resource.namespaced && namespace === undefined)) {
    return undefined;
  }
  const stored = store.get({ resource: resource.key, namespace: namespace ?? "", name });
  return stored === undefined ? [] : [stored];
}

export function matches(
  stored: StoredObject,
  resource: Resource,
  labels: ListOptions["labels"],
  fields: ListOptions["fields"],
): boolean {
  if (labels !== undefined && !labels(parseLabels(stored))) return false;
  if (fields === undefined) return true;
  return fields.matches(fields.isMetadataOnly ? { metadata: parseMetadata(stored) } : parseAsked(resource, stored));
}

/** A list's order: by namespace and name, in a list of one namespace by name. */
function keyOf({ namespace, name }: StoredObject, listed: string | undefined): string {
  return listed === namespace || namespace === "" ? name : `${namespace}\u0000${name}`;
}

function formatToken({ rv, start }: Token): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start })).toString("base64url");
}

function parseToken(text: string): Token {
  const illegal = text.search(/[^\w-]/);
  if (illegal >= 0 || text.length % 4 === 1) {
    throw badToken(`illegal base64 data at input byte ${illegal >= 0 ? illegal : text.length - 1}`);
  }
  const bytes = Buffer.from(text, "base64url");
  const problem = goJsonProblem(bytes.toString("latin1"));
  if (problem !== undefined) throw badToken(problem);
  const token: unknown = JSON.parse(bytes.toString());
  if (typeof token === "object" && token !== null && "rv" in token && "start" in token) {
    const { rv, start } = token;
    if (typeof rv === "number" && typeof start === "string") return { rv, start: withoutEnd(start) };
  }
  throw badToken('server does not recognize this encoded version ""');
}

function badToken(problem: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${problem}`);
}

/** Real servers write the key after the last one, which ends in a zero byte; ours is the last one itself. */
function withoutEnd(start: string): string {
  return start.endsWith("\u0000") ? start.slice(0, -1) : start;
}

function exactRevision({ resourceVersion, resourceVersionMatch }: ListOptions): number | undefined {
  return resourceVersionMatch === "Exact" && /^\d+$/.test(resourceVersion) ? Number(resourceVersion) : undefined;
}

function checkRevision(text: string, current: number): void {
  if (text === "") return;
  if (!/^\d+$/.test(text)) throw badRequest(`invalid resource version: ${badRevision(text)}`);
  if (Number(text) > current) throw tooLarge(Number(text), current);
}

export function badRevision(text: string): string {
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
}

export function tooLarge(wanted: number, current: number): StatusError {
  return new StatusError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

function continueExpired({ start }: Token): StatusError {
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
    "deleted between the time the first chunk was returned and now may show up in the list.";
  return new StatusError(410, "Expired", message, { continue: formatToken({ rv: -1, start }) });
}
