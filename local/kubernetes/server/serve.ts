import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../../../lib/core/failure.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import { refuseForeignRequest } from "../../refuse-foreign-request.ts";
import { StatusError } from "../api-object.ts";
import { serveDiscovery } from "../discovery/serve-discovery.ts";
import { serveOpenApi } from "../discovery/serve-openapi.ts";
import type { Cluster } from "./cluster.ts";
import { deprecation } from "./deprecation.ts";
import { internal, methodNotAllowed, noSuchResource } from "./errors.ts";
import { type Exchange, sendJson, sendPlain, skipBody, warn } from "./exchange.ts";
import { parseRequestPath, type RequestPath } from "./request-path.ts";
import type { Resource } from "./resource.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { serveCollection, serveObject } from "./serve-resource.ts";
import { serveReview } from "./serve-review.ts";
import { serveSubresource } from "./serve-subresource.ts";
import { failureStatus } from "./status.ts";
import { anonymous, impersonated, type User, type Users } from "./users.ts";

/** What requests are served with. */
export interface Serving {
  readonly cluster: Cluster;
  readonly users: Users;
  readonly log: Log;
  /** That the server answers to, beside those of loopback. */
  readonly names: readonly string[];
}

/** Serves any request; never throws, whatever the request is. */
export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { cluster, users, log, names }: Serving,
): Promise<void> {
  let exchange: Exchange = {
    request,
    response,
    method: request.method ?? "GET",
    path: "/",
    query: new URLSearchParams(),
    user: anonymous,
  };
  try {
    const refusal = refuseForeignRequest(request.headers, names);
    if (refusal !== undefined) throw new StatusError(403, "Forbidden", refusal);
    const url = new URL(`http://kubernetes${request.url?.startsWith("/") === true ? request.url : "/"}`);
    const access = accessOf(url.pathname);
    const user = userOf(request, users, access.token);
    exchange = { ...exchange, path: access.path, query: url.searchParams, user };
    await dispatch(exchange, cluster);
  } catch (error) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const status = error instanceof StatusError ? error : unforeseen(error, exchange, log);
    await skipBody(exchange);
    // What is still not read of the body would be taken for the next request.
    const close = request.complete ? {} : { connection: "close" };
    sendJson(exchange, status.code, JSON.stringify(failureStatus(status)), "json", close);
  }
}

function unforeseen(error: unknown, { method, path }: Exchange, log: Log): StatusError {
  const stack = error instanceof Error ? error.stack : undefined;
  log.error("kubernetes request failed", { method, path, error: messageOf(error), stack });
  return internal(`the embedded cluster failed on this request: ${messageOf(error)}`);
}

/**
 * `/access/TOKEN/...` is `/...` with that token: kubectl sends no Authorization header over plain HTTP, yet keeps the
 * path of its server's address.
 */
function accessOf(path: string): { readonly token: string; readonly path: string } {
  const [, token = "", rest = ""] = /^\/access\/([^/]*)(\/.*)?$/.exec(path) ?? [];
  return token === "" ? { token, path } : { token, path: rest === "" ? "/" : rest };
}

/** @throws {StatusError} 401 for a token that is nobody's */
function userOf({ headers }: IncomingMessage, users: Users, accessToken: string): User {
  const { authorization = "" } = headers;
  const token = authorization === "" ? accessToken : authorization.replace(/^Bearer\s+/i, "");
  if (token === "") return anonymous;
  const user = users.find(token);
  if (user === undefined) throw new StatusError(401, "Unauthorized", "Unauthorized");
  const name = headers["impersonate-user"];
  if (typeof name !== "string" || name === "") return user;
  const groups = headers["impersonate-group"];
  return impersonated(name, groups === undefined ? [] : [groups].flat());
}

async function dispatch(exchange: Exchange, cluster: Cluster): Promise<void> {
  const parts = partsOf(exchange.path);
  if (parts === undefined) return sendPlain(exchange, 400, "400 Bad Request\n");
  const path = parseRequestPath(parts);
  authorize(exchange, parts, path);
  if (path === undefined || cluster.resources.find(path.group, path.version, path.plural) === undefined) {
    if (serveDiscovery(exchange, cluster, parts) || (await serveOpenApi(exchange, cluster, parts))) return;
    const isKnownGroup = path !== undefined && (path.group === "" || cluster.resources.group(path.group) !== undefined);
    if (isKnownGroup) throw noSuchResource();
    return sendPlain(exchange, 404, "404 page not found\n");
  }
  const resource = cluster.resources.find(path.group, path.version, path.plural);
  if (resource === undefined) return;
  warn(exchange, deprecation(resource));
  await serveResource({ exchange, cluster, resource, path });
}

async function serveResource(request: ResourceRequest): Promise<void> {
  const { exchange, resource, path } = request;
  if (!isInScope(resource, path)) {
    return resource.custom === undefined
      ? Promise.reject(noSuchResource())
      : sendPlain(exchange, 404, "404 page not found\n");
  }
  if (await serveReview(request)) return;
  if (path.name === undefined) return serveCollection(request);
  if (path.subresource === undefined) {
    if (!resource.verbs.includes("get")) throw methodNotAllowed();
    return serveObject(request, path.name);
  }
  return serveSubresource(request, path.name, path.subresource);
}

/** A cluster-scoped resource has no namespace; one object of a namespaced resource needs one. */
function isInScope({ namespaced }: Resource, { namespace, name, isDeprecatedWatch }: RequestPath): boolean {
  if (!namespaced) return namespace === undefined;
  return namespace !== undefined || name === undefined || isDeprecatedWatch;
}

function partsOf(path: string): readonly string[] | undefined {
  try {
    const parts = path.split("/").slice(1).map(decodeURIComponent);
    return parts.at(-1) === "" ? parts.slice(0, -1) : parts;
  } catch {
    // A percent sign that begins no byte.
    return undefined;
  }
}

const openPaths = new Set(["healthz", "readyz", "livez", "version"]);
/** What the ClusterRole `system:discovery` lets everybody read who is known. */
const discoveryPaths = new Set(["api", "apis", "openapi"]);

/** @throws {StatusError} 403 */
function authorize(
  { method, user, query, path: whole }: Exchange,
  parts: readonly string[],
  path: RequestPath | undefined,
): void {
  if (user.isAdmin || openPaths.has(parts[0] ?? "")) return;
  const isKnown = user.groups.includes("system:authenticated");
  if (path === undefined && isKnown && method === "GET" && discoveryPaths.has(parts[0] ?? "")) return;
  if (path === undefined) {
    throw new StatusError(
      403,
      "Forbidden",
      `forbidden: User "${user.name}" cannot ${method.toLowerCase()} path "${whole}"`,
      {},
    );
  }
  const { group, plural, subresource, namespace, name } = path;
  const target = subresource === undefined ? plural : `${plural}/${subresource}`;
  const object = name === undefined ? "" : ` "${name}"`;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const qualified = group === "" ? plural : `${plural}.${group}`;
  const message = `${qualified}${object} is forbidden: User "${user.name}" cannot ${verbOf(method, name, query)} resource "${target}" in API group "${group}" ${where}`;
  throw new StatusError(403, "Forbidden", message, {
    ...(name === undefined ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind: plural,
  });
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
      if (name !== undefined) return "get";
      return query.get("watch") === null ? "list" : "watch";
  }
}
