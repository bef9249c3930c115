import type { CanaryHttp, NamingNamespaces } from "../lib/canary/canary-http.ts";
import { type MetricServers, maxQueryBytes, type TemplateEngine } from "../lib/canary/metric-servers.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { CloudWatch } from "../lib/core/ports/cloud-watch.ts";
import type { EngineLimits } from "../lib/core/ports/engine.ts";
import type { Http, HttpRequest, HttpResponse } from "../lib/core/ports/http.ts";
import type { MessageEngine } from "../lib/core/ports/message-engine.ts";
import type { ServiceProxy } from "../lib/core/ports/service-proxy.ts";
import type { ServedCluster } from "../lib/gate/served-clusters.ts";
import { clusterHttp } from "../lib/in-cluster/cluster-http.ts";
import { type ShareListing, sharedListings } from "../lib/sources/shared-listing.ts";

const setting = "canary-service-namespaces";
const sharedMs = 1_000;
/** More than the Canaries of a process can ask in that time: a shared one is never dropped for one that is not shared. */
const maxReadings = 2_000;
/** The size of an answer without its body, and of a CloudWatch value with its digits. */
const [headBytes, valueBytes] = [1_024, 32];

interface CanaryServersDeps {
  readonly http: Http;
  readonly clock: Pick<Clock, "monotonic">;
  /** The setting `canary-service-namespaces`. */
  readonly namespaces: readonly string[];
  /** By the cluster whose namespaces it is lent to; absent where no AWS identity is lent. */
  readonly cloudWatchOf?: ((cluster: string) => CloudWatch) | undefined;
  readonly engine: MessageEngine;
}

/** What the Canaries of one cluster ask. */
export interface CanaryServers {
  readonly canaryHttp: CanaryHttp;
  readonly metricServers: MetricServers;
}

/** The {@link CanaryServers} of each cluster. Answers of metrics are shared for a second by all who may ask for them in this process. */
export function canaryServersOf({
  http,
  clock,
  namespaces,
  cloudWatchOf,
  engine,
}: CanaryServersDeps): (cluster: Pick<ServedCluster, "externalMetrics" | "id" | "services">) => CanaryServers {
  const share = sharedListings(clock, { keptMs: sharedMs, max: maxReadings });
  const since = (): number => clock.monotonic() - sharedMs;
  const send = answers(share, since);
  const sharedHttp: Http = { send: (request, signal) => send("", request, (stop) => http.send(request, stop), signal) };
  return ({ id, services, externalMetrics }) => {
    const sharedServices: ServiceProxy | undefined = services && {
      send: (service, request, signal) => send(id, request, (stop) => services.send(service, request, stop), signal),
    };
    const rules = (own: NamingNamespaces) => ({ namespaces, own, setting });
    const cloudWatch = cloudWatchOf && sharedCloudWatch(id, cloudWatchOf(id), share, since);
    return {
      canaryHttp: {
        of: (own) => clusterHttp(http, { ...rules(own), services }),
        // The rules come before what is shared: an answer is given to those only who may ask for it.
        shared: (own) => clusterHttp(sharedHttp, { ...rules(own), services: sharedServices }),
      },
      metricServers: {
        ...(cloudWatch === undefined ? {} : { cloudWatch }),
        ...(externalMetrics === undefined ? {} : { externalMetrics }),
        templates: templatesBy(engine, id),
      },
    };
  };
}

/** The limits for a query: its template is rendered in one go, and no loop over plain names takes long. */
const templateLimits: EngineLimits = { maxCpuMs: 5_000, maxWallMs: 20_000, maxOutputBytes: 8 * maxQueryBytes };

function templatesBy(engine: MessageEngine, cluster: string): TemplateEngine {
  return ({ namespace, name, template, values }, signal) => {
    const input = { tenant: { cluster, namespace }, template, values, automation: { namespace, name }, files: [] };
    return engine.message({ ...input, maxBytes: maxQueryBytes }, templateLimits, signal);
  };
}

type Send = (
  place: string,
  request: HttpRequest,
  ask: (signal: AbortSignal) => Promise<HttpResponse>,
  signal: AbortSignal,
) => Promise<HttpResponse>;

/** Shared answers for one place. The same URL means another server in another cluster, so Services have their cluster as place. */
function answers(share: ShareListing, since: () => number): Send {
  return (place, request, ask, signal) => {
    const { method, url, headers = {}, body, tls, maxBytes } = request;
    const sent = body && Buffer.from(body).toString("base64");
    const key = JSON.stringify(["http", place, method, url, headers, sent, tls, maxBytes]);
    return share({ key, since: since(), ask, bytesOf: (answer) => answer.body.length + headBytes }, signal);
  };
}

function sharedCloudWatch(
  cluster: string,
  cloudWatch: CloudWatch,
  share: ShareListing,
  since: () => number,
): CloudWatch {
  return {
    metricData(request, signal) {
      const { namespace, region, queries, startMs, endMs, maxDatapoints } = request;
      const key = JSON.stringify(["cloudwatch", cluster, namespace, region, queries, endMs - startMs, maxDatapoints]);
      const ask = (stop: AbortSignal) => cloudWatch.metricData(request, stop);
      return share({ key, since: since(), ask, bytesOf: (results) => results.flat().length * valueBytes }, signal);
    },
  };
}
