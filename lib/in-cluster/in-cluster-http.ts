import { type Http, HttpError, type HttpRequest } from "../core/ports/http.ts";
import type { ServiceAddress, ServiceProxy } from "../core/ports/service-proxy.ts";

/** Which Services of its cluster an object reaches. */
export interface InClusterRules {
  /** The Services of the object's cluster; absent if it has none. */
  readonly services: ServiceProxy | undefined;
  /** The namespaces whose Services every object may reach. If there is one, also those of the object's own namespace; if none, no Service. */
  readonly namespaces: readonly string[] | "all";
  /** The namespace of the object; or several, where one object names another that names the address. */
  readonly own: string | readonly string[];
  /** The setting that lists the namespaces, as messages name it. */
  readonly setting: string;
}

/**
 * Sends requests to Services of the cluster (`http://name.namespace.svc…`) through its API server, and all others by `http`. A request
 * that has a proxy of its own goes through that one. Without a namespace in the rules all requests go by `http`.
 */
export function inClusterHttp(http: Http, rules: InClusterRules): Http {
  const { services, namespaces, setting } = rules;
  if (services === undefined || namespaces.length === 0) return http;
  return {
    async send(request, signal) {
      const service = serviceOf(request.url);
      if (service === undefined || request.proxy !== undefined) return http.send(request, signal);
      const why = isReached(service.namespace, rules)
        ? faultOf(request)
        : `the installation's setting ${setting} does not list namespace ${service.namespace}`;
      if (why !== undefined) throw refused(request, why);
      return services.send(service, { ...request, headers: passedOn(request) }, signal);
    },
  };
}

/** Whether the Services of a namespace may be reached. */
export function isReached(namespace: string, { namespaces, own }: Pick<InClusterRules, "namespaces" | "own">): boolean {
  if (namespaces.length === 0) return false;
  const isOwn = typeof own === "string" ? own === namespace : own.includes(namespace);
  return namespaces === "all" || isOwn || namespaces.includes(namespace);
}

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const serviceHost = new RegExp(`^(${label})\\.(${label})\\.svc(?:\\.cluster\\.local)?\\.?$`);

/** The Service of an address `http[s]://NAME.NAMESPACE.svc[.cluster.local][:PORT]`; undefined for any other address. */
export function serviceOf(url: string): ServiceAddress | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  const [, name, namespace] = serviceHost.exec(hostname) ?? [];
  if (name === undefined || namespace === undefined) return undefined;
  const scheme = protocol === "https:" ? "https" : "http";
  return { scheme, namespace, name, port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port) };
}

/** Headers that the API server itself reads. A tenant must not choose the identity of a request. */
const takenByApiServer = /^(?:authorization|impersonate-.*|x-remote-.*|sec-websocket-.*)$/;
/** Of one connection. */
const ofConnection = /^(?:connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** Why a request cannot go through an API server. */
function faultOf({ url, headers = {}, tls = {} }: HttpRequest): string | undefined {
  const { username, password, pathname } = new URL(url);
  const taken = Object.keys(headers).find((name) => takenByApiServer.test(name.toLowerCase()));
  if (taken?.toLowerCase() === "authorization" || username !== "" || password !== "") {
    return "a Service of the cluster is reached through the API server, which takes the header Authorization for itself: leave out username, password and token, or log in by another header";
  }
  if (taken !== undefined) {
    return `a Service of the cluster is reached through the API server, which takes the header ${taken} for itself: leave it out`;
  }
  if (tls.ca !== undefined || tls.cert !== undefined || tls.key !== undefined) {
    return "a Service of the cluster is reached through the API server, which uses no certificates of a Provider: leave out certSecretRef";
  }
  return leadsOut(pathname) ? "the path must not have a segment . or .., also not encoded" : undefined;
}

/** Whether a server could resolve the path to one outside of the Service's. `URL` has resolved the parts that are not encoded. */
function leadsOut(pathname: string): boolean {
  try {
    return decodeURIComponent(pathname)
      .split(/[/\\]/)
      .some((segment) => segment === ".." || segment === ".");
  } catch {
    return true;
  }
}

function passedOn({ headers = {} }: HttpRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.test(name.toLowerCase())));
}

function refused({ method, url }: HttpRequest, why: string): HttpError {
  const { origin, pathname } = new URL(url);
  return new HttpError("refused", `${method} ${origin}${pathname}: ${why}`);
}
