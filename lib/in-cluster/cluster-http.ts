import { type Http, HttpError, type HttpRequest } from "../core/ports/http.ts";
import { type InClusterRules, inClusterHttp, isReached, serviceOf } from "./in-cluster-http.ts";

/** The rules of an object whose addresses are meant as within the cluster. */
export interface ClusterHttpRules extends InClusterRules {
  /** The first one is that of a name without a namespace. */
  readonly own: readonly [string, ...string[]];
}

/** A Service that an address may name. */
interface NamedService {
  readonly name: string;
  readonly namespace: string;
  /** Whether nothing else can be meant. */
  readonly isCertain: boolean;
}

/**
 * Sends requests as a program in the cluster would: `http://name`, `http://name.namespace[:port]` and `http://name.namespace.svc…` are Services,
 * which are reached through the API server by the rules of {@link inClusterHttp}; all others go by `http`. Two labels may be a host elsewhere
 * too (`http://example.com`): they are a Service only where the namespace may be reached, and for `https` only with a port. Where a Service
 * cannot be reached, the `HttpError` says what is missing.
 */
export function clusterHttp(http: Http, rules: ClusterHttpRules): Http {
  const inside = inClusterHttp(http, rules);
  const isOff = rules.services === undefined || rules.namespaces.length === 0;
  return {
    async send(request, signal) {
      const service = request.proxy === undefined ? namedService(request.url, rules.own[0]) : undefined;
      if (service === undefined) return http.send(request, signal);
      if (!isOff && (service.isCertain || isReached(service.namespace, rules))) {
        return inside.send({ ...request, url: fullUrl(request.url, service) }, signal);
      }
      if (serviceOf(request.url) !== undefined) throw refused(request, service, rules);
      try {
        return await http.send(request, signal);
      } catch (error) {
        if (!(error instanceof HttpError) || !["refused", "unreachable"].includes(error.reason)) throw error;
        throw new HttpError(
          error.reason,
          `${error.message}; if it is a Service of the cluster: ${mend(service, rules)}`,
          {
            cause: error,
          },
        );
      }
    },
  };
}

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function namedService(text: string, ownNamespace: string): NamedService | undefined {
  const full = serviceOf(text);
  if (full !== undefined) return { name: full.name, namespace: full.namespace, isCertain: true };
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  const [name = "", namespace, ...more] = hostname.split(".");
  if (more.length > 0 || !label.test(name) || name === "localhost") return undefined;
  if (namespace === undefined) return { name, namespace: ownNamespace, isCertain: true };
  const isElsewhere = !label.test(namespace) || (protocol === "https:" && port === "");
  return isElsewhere ? undefined : { name, namespace, isCertain: false };
}

function fullUrl(text: string, { name, namespace }: NamedService): string {
  const url = new URL(text);
  url.hostname = `${name}.${namespace}.svc`;
  return url.href;
}

function refused({ method, url }: HttpRequest, service: NamedService, rules: ClusterHttpRules): HttpError {
  const { origin, pathname } = new URL(url);
  return new HttpError(
    "refused",
    `${method} ${origin}${pathname}: it is a Service of the cluster: ${mend(service, rules)}`,
  );
}

function mend({ namespace }: NamedService, { services, setting }: ClusterHttpRules): string {
  if (services === undefined) return "the Services of this cluster cannot be reached from here";
  return `add namespace ${namespace} to the installation's setting ${setting}, and give Sluice the right to services/proxy in it`;
}
