import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { messageOf, StatusError } from "./core/api-object.ts";
import type { Log } from "./core/log.ts";
import { serveDiscovery } from "./discovery/serve-discovery.ts";
import { serveOpenApi } from "./discovery/serve-openapi.ts";
import type { Resource } from "./resource/resource.ts";
import { authorize } from "./server/authorize.ts";
import type { Cluster } from "./server/cluster.ts";
import { internal, methodNotAllowed, noSuchResource } from "./server/errors.ts";
import { type Exchange, sendJson, sendPlain, skipBody, warn } from "./server/exchange.ts";
import { parseRequestPath, type RequestPath } from "./server/request-path.ts";
import type { ResourceRequest } from "./server/resource-request.ts";
import { serveCollection, serveObject } from "./server/serve-resource.ts";
import { serveReview } from "./server/serve-review.ts";
import { serveSubresource } from "./server/serve-subresource.ts";
import { failureStatus } from "./server/status.ts";
import { anonymous, impersonated, type User, type Users } from "./server/users.ts";

/** What requests are served with. */
export interface Serving {
  readonly cluster: Cluster;
  readonly users: Users;
  readonly log: Log;
  /** Says why a request is refused before anything else of it is read. */
  readonly refuse: (headers: IncomingHttpHeaders) => string | undefined;
}

/** Serves any request; never throws, whatever the request is. */
export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { cluster, users, log, refuse }: Serving,
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
    const refusal = refuse(request.headers);
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

/** @throws {StatusError} 401 for a token that no user has */
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
  authorize(exchange, parts, path, cluster);
  if (path === undefined || cluster.resources.find(path.group, path.version, path.plural) === undefined) {
    if (serveDiscovery(exchange, cluster, parts) || (await serveOpenApi(exchange, cluster, parts))) return;
    const isBuiltin =
      path !== undefined && (path.group === "" || cluster.resources.group(path.group)?.isBuiltin === true);
    if (isBuiltin) throw noSuchResource();
    return sendPlain(exchange, 404, "404 page not found\n");
  }
  const resource = cluster.resources.find(path.group, path.version, path.plural);
  if (resource === undefined) return;
  await serveResource({ exchange, cluster, resource, path });
}

async function serveResource(request: ResourceRequest): Promise<void> {
  const { exchange, resource, path } = request;
  if (!isInScope(resource, path, exchange.method)) {
    return resource.custom === undefined
      ? Promise.reject(noSuchResource())
      : sendPlain(exchange, 404, "404 page not found\n");
  }
  checkMethod(resource, path, exchange.method);
  warn(exchange, deprecation(resource));
  if (await serveReview(request)) return;
  if (path.name === undefined) return serveCollection(request);
  if (path.subresource === undefined) return serveObject(request, path.name);
  return serveSubresource(request, path.name, path.subresource);
}

/**
 * A cluster-scoped resource has no namespace; one object of a namespaced resource needs one. All namespaces of a custom resource
 * can be read, and that is a path of no other method.
 */
function isInScope({ namespaced, custom }: Resource, path: RequestPath, method: string): boolean {
  const { namespace, name, isDeprecatedWatch } = path;
  if (!namespaced) return namespace === undefined;
  if (namespace !== undefined || isDeprecatedWatch) return true;
  return name === undefined && (custom === undefined || method === "GET" || method === "HEAD");
}

/** @throws {StatusError} 405 if the resource, or the subresource that is asked for, has no such verb */
function checkMethod(resource: Resource, { namespace, name, subresource }: RequestPath, method: string): void {
  const { custom, group, plural, namespaced, subresources, verbs } = resource;
  const verb = verbOfMethod[method] ?? "";
  const known = subresources.find((one) => one.name === subresource);
  if (subresource !== undefined && (known === undefined || subresource === "proxy")) return;
  if (custom !== undefined) {
    const isKnown = known === undefined ? verb !== "" : known.verbs.includes(verb);
    if (isKnown) return;
    const message = `${verb} is not supported on resources of kind "${plural}.${group}"`;
    throw new StatusError(405, "MethodNotAllowed", message, { group, kind: plural });
  }
  const isCollection = name === undefined;
  const isOfAllNamespaces = namespaced && namespace === undefined;
  const asked = isCollection ? (verbOfCollection[method] ?? "") : method === "POST" && known === undefined ? "" : verb;
  const isAllowed = (known ?? { verbs }).verbs.includes(asked);
  if (!isAllowed || (isOfAllNamespaces && asked !== "list")) throw methodNotAllowed();
}

const verbOfMethod: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
const verbOfCollection: Readonly<Record<string, string>> = {
  GET: "list",
  HEAD: "list",
  POST: "create",
  DELETE: "deletecollection",
};

function partsOf(path: string): readonly string[] | undefined {
  try {
    const parts = path.split("/").slice(1).map(decodeURIComponent);
    return parts.at(-1) === "" ? parts.slice(0, -1) : parts;
  } catch {
    // A percent sign that begins no byte.
    return undefined;
  }
}

/** Built-in kinds that are served and no longer advised, with what the server says of them. */
const deprecatedKinds: Readonly<Record<string, string>> = {
  "/v1/Endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  "/v1/ComponentStatus": "v1 ComponentStatus is deprecated in v1.19+",
};

/** What every request for this version of a kind is warned of. */
function deprecation({ custom, group, version, kind }: Resource): readonly string[] {
  const warning = custom === undefined ? deprecatedKinds[`${group}/${version}/${kind}`] : custom.deprecationWarning;
  return warning === undefined ? [] : [warning];
}
