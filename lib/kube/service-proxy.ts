import type { IncomingMessage } from "node:http";
import { messageOf } from "../core/failure.ts";
import { isJsonObject, type JsonObject, parseJson } from "../core/json.ts";
import { HttpError, type HttpErrorReason, type HttpRequest, type HttpResponse } from "../core/ports/http.ts";
import type { ServiceAddress, ServiceProxy } from "../core/ports/service-proxy.ts";
import type { ApiClient } from "./api-client.ts";

/** The longest answer of a Service that is read, also where the request allows more. */
export const maxServiceAnswerBytes = 1_048_576;

/** The verb of Kubernetes' rights for each method. */
const verbs = {
  DELETE: "delete",
  GET: "get",
  HEAD: "get",
  PATCH: "patch",
  POST: "create",
  PUT: "update",
} as const satisfies Record<HttpRequest["method"], string>;

/**
 * The {@link ServiceProxy} port on an API server.
 *
 * @param server its URL: redirects of a Service come back as addresses below it
 */
export function serviceProxy(client: Pick<ApiClient, "forward" | "renew">, server: URL): ServiceProxy {
  return {
    async send(service, request, signal) {
      const first = await sendOnce({ service, request, client, server }, signal);
      const isRefused = first.status === 401 && statusOf(first)?.["reason"] === "Unauthorized";
      // The API server's own refusal, not that of the Service: nothing was sent on.
      const answer = isRefused && client.renew() ? await sendOnce({ service, request, client, server }, signal) : first;
      const fault = faultOf(answer, service, request);
      if (fault !== undefined) throw failed(fault.reason, request, fault.why);
      return answer;
    },
  };
}

interface Sending {
  readonly service: ServiceAddress;
  readonly request: HttpRequest;
  readonly client: Pick<ApiClient, "forward">;
  readonly server: URL;
}

async function sendOnce({ service, request, client, server }: Sending, signal: AbortSignal): Promise<HttpResponse> {
  const { method, url, headers = {}, body, timeoutMs } = request;
  const { pathname, search } = new URL(url);
  const below = proxyPath(service);
  try {
    const response = await client.forward(
      { verb: verbs[method], method, below, path: `${below}${pathname}${search}`, headers, body, limitMs: timeoutMs },
      signal,
    );
    const received = await bodyOf(response, request);
    return {
      url,
      status: response.statusCode ?? 0,
      headers: headersOf(response, `${server.pathname.replace(/\/$/, "")}${below}`, server),
      body: received,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    throw failed("unreachable", request, messageOf(error), error);
  }
}

/** The path of a Service's proxy, to which the path at the Service is appended. */
function proxyPath(service: ServiceAddress): string {
  return `/api/v1/namespaces/${service.namespace}/services/${proxyName(service)}/proxy`;
}

/** The name that rights are for. The port is always there: without it the API server looks for a port without a name. */
function proxyName({ scheme, name, port }: ServiceAddress): string {
  return `${scheme === "https" ? "https:" : ""}${name}:${port}`;
}

async function bodyOf(response: IncomingMessage, request: HttpRequest): Promise<Uint8Array> {
  const maxBytes = Math.min(request.maxBytes, maxServiceAnswerBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> = response;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw failed("too-large", request, `the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @param below what the API server has put before the path of a redirect */
function headersOf({ headers }: IncomingMessage, below: string, server: URL): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all[name] = typeof value === "string" ? value : value.join(", ");
  }
  const { location } = all;
  return location === undefined ? all : { ...all, location: locationAtService(location, below, server) };
}

function locationAtService(location: string, below: string, server: URL): string {
  if (!URL.canParse(location, server.href)) return location;
  const { host, pathname, search } = new URL(location, server.href);
  if (host !== server.host || !pathname.startsWith(`${below}/`)) return location;
  return `${pathname.slice(below.length)}${search}`;
}

/** An error of the API server itself, in place of the Service's answer. */
function faultOf(
  answer: HttpResponse,
  service: ServiceAddress,
  { method }: HttpRequest,
): { readonly reason: HttpErrorReason; readonly why: string } | undefined {
  const status = statusOf(answer);
  if (status === undefined) return undefined;
  const { namespace, name } = service;
  const message = typeof status["message"] === "string" ? status["message"] : "";
  const details = isJsonObject(status["details"]) ? status["details"] : {};
  const about = details["name"];
  const isOfService = details["kind"] === "services" && (about === name || about === proxyName(service));
  const { reason } = status;
  if (reason === "Forbidden" && isOfService) {
    return {
      reason: "refused",
      why: `the API server may not pass it on to Service ${namespace}/${name}: the right ${verbs[method]} on services/proxy of the name ${proxyName(service)} in namespace ${namespace} is missing: ${message}`,
    };
  }
  if (reason === "NotFound" && isOfService) {
    return { reason: "refused", why: `there is no Service ${name} in namespace ${namespace}` };
  }
  if (reason === "NotImplemented") {
    return { reason: "refused", why: `the API server passes nothing on to Service ${namespace}/${name}: ${message}` };
  }
  if (reason === "ServiceUnavailable") {
    return { reason: "unreachable", why: `the API server cannot reach Service ${namespace}/${name}: ${message}` };
  }
  return reason === "Unauthorized"
    ? { reason: "unreachable", why: `the API server does not take our credential: ${message}` }
    : undefined;
}

/** The `metav1.Status` of an answer that is a failure; undefined if it is none. A Service could answer one too: it then gets a clearer text. */
function statusOf({ status, body }: HttpResponse): JsonObject | undefined {
  if (status < 400) return undefined;
  try {
    const value: unknown = parseJson(Buffer.from(body).toString());
    const isStatus = isJsonObject(value) && value["kind"] === "Status" && value["apiVersion"] === "v1";
    return isStatus && value["code"] === status ? value : undefined;
  } catch {
    return undefined;
  }
}

function failed(reason: HttpErrorReason, { method, url }: HttpRequest, why: string, cause?: unknown): HttpError {
  const { origin, pathname } = new URL(url);
  return new HttpError(reason, `${method} ${origin}${pathname}: ${why}`, { cause });
}
