import type { CanaryHttp, NamingNamespaces } from "../lib/canary/canary-http.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Http, HttpRequest, HttpResponse } from "../lib/core/ports/http.ts";
import type { ServiceProxy } from "../lib/core/ports/service-proxy.ts";
import type { ServedCluster } from "../lib/gate/served-clusters.ts";
import { clusterHttp } from "../lib/in-cluster/cluster-http.ts";
import { sharedListings } from "../lib/sources/shared-listing.ts";

const setting = "canary-service-namespaces";
const sharedMs = 1_000;
/** Of an answer without its body. */
const headBytes = 1_024;

interface CanaryHttpDeps {
  readonly http: Http;
  readonly clock: Pick<Clock, "monotonic">;
  /** The setting of this name. */
  readonly namespaces: readonly string[];
}

/** The {@link CanaryHttp} of each cluster. What is shared is shared by all clusters of the process, but for their Services. */
export function canaryHttpOf({
  http,
  clock,
  namespaces,
}: CanaryHttpDeps): (cluster: Pick<ServedCluster, "id" | "services">) => CanaryHttp {
  const share = sharedAnswers(clock);
  const sharedHttp: Http = {
    send: (request, signal) => share("", request, (stop) => http.send(request, stop), signal),
  };
  return ({ id, services }) => {
    const sharedServices: ServiceProxy | undefined = services && {
      send: (service, request, signal) => share(id, request, (stop) => services.send(service, request, stop), signal),
    };
    const rules = (own: NamingNamespaces) => ({ namespaces, own, setting });
    return {
      of: (own) => clusterHttp(http, { ...rules(own), services }),
      // The rules come before what is shared: an answer is given to those only who may ask for it.
      shared: (own) => clusterHttp(sharedHttp, { ...rules(own), services: sharedServices }),
    };
  };
}

type Share = (
  place: string,
  request: HttpRequest,
  ask: (signal: AbortSignal) => Promise<HttpResponse>,
  signal: AbortSignal,
) => Promise<HttpResponse>;

/** Answers of the last second. The URL of a Service has its namespace, name and port. */
function sharedAnswers(clock: Pick<Clock, "monotonic">): Share {
  const share = sharedListings(clock);
  return (place, request, ask, signal) => {
    const { method, url, headers = {}, body, tls, maxBytes } = request;
    const key = JSON.stringify([
      place,
      method,
      url,
      headers,
      body && Buffer.from(body).toString("base64"),
      tls,
      maxBytes,
    ]);
    const since = clock.monotonic() - sharedMs;
    return share({ key, since, ask, bytesOf: (answer) => answer.body.length + headBytes }, signal);
  };
}
