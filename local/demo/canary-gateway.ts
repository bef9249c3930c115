import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import type { LiveObject } from "../../lib/core/manifest.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { listenOnLoopback } from "../loopback/listen-on-loopback.ts";
import { smoothWeights, type WeightedBackend } from "./smooth-weights.ts";
import { namespace } from "./stage.ts";

/** One answer of the gateway. */
export interface Answered {
  /** Wall time in milliseconds. */
  readonly at: number;
  /** The weight of the canary in the route, in percent. */
  readonly weight: number;
  /** That its primary ran. */
  readonly primary: string;
  /** The Service that the route chose. */
  readonly service: string;
  /** The image of the Deployment behind it; empty if no pod was ready. */
  readonly image: string;
  readonly status: number;
}

/** A gateway on loopback that sends each request where an HTTPRoute says, and the Prometheus that has counted the answers. */
export interface CanaryGateway extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; `/metrics-server` is Prometheus, every other path the gateway. */
  readonly url: string;
  readonly answers: readonly Answered[];
  /** Routes by what this cluster holds. Before that there is no backend. */
  follow(cluster: Cluster): void;
}

const Route = z.object({
  spec: z.object({
    rules: z.array(z.object({ backendRefs: z.array(z.object({ name: z.string(), weight: z.number() })) })).min(1),
  }),
});
const Service = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ selector: z.record(z.string(), z.string()) }),
});
const Deployment = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()) }),
      spec: z.object({ containers: z.array(z.object({ image: z.string() })).min(1) }),
    }),
  }),
  status: z.object({ availableReplicas: z.number().default(0) }).prefault({}),
});

interface Backend extends WeightedBackend {
  readonly image: string;
}

/** So long a gateway may route by what it has read. */
const freshMs = 100;
const windowMs = 60_000;

/**
 * @param name of the route, whose canary's Service is `<name>-canary`
 * @param isFaulty whether the pods of an image answer this request, counted from 0, with 500: pods run nothing here, so the gateway
 *   answers in their place
 */
export async function startCanaryGateway(
  name: string,
  isFaulty: (image: string, count: number) => boolean,
  signal: AbortSignal,
): Promise<CanaryGateway> {
  let followed: Cluster | undefined;
  const answers: Answered[] = [];
  const counts = new Map<string, number>();
  const chosen = smoothWeights();
  let known: { readonly at: number; readonly backends: Promise<readonly Backend[]> } | undefined;

  const backends = async (): Promise<readonly Backend[]> => {
    if (followed === undefined) return [];
    if (known === undefined || Date.now() - known.at > freshMs) {
      known = { at: Date.now(), backends: readBackends(followed, name, signal) };
    }
    return known.backends;
  };
  const route = async (): Promise<number> => {
    const all = await backends();
    const { service, image } = chosen(all) ?? { service: "", image: "" };
    const weight = all.find((one) => one.service === `${name}-canary`)?.weight ?? 0;
    const primary = all.find((one) => one.service === `${name}-primary`)?.image ?? "";
    const count = counts.get(image) ?? 0;
    counts.set(image, count + 1);
    const status = image === "" ? 503 : isFaulty(image, count) ? 500 : 200;
    answers.push({ at: Date.now(), weight, primary, service, image, status });
    return status;
  };
  const handle = async ({ url = "" }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(url, "http://gateway.test");
    if (!pathname.startsWith("/metrics-server/")) {
      response.writeHead(await route()).end();
      return;
    }
    const value = valueOf(searchParams.get("query") ?? "", answers, `${name}-canary`);
    const result = value === undefined ? [] : [{ metric: {}, value: [Date.now() / 1_000, String(value)] }];
    response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const listening = await listenOnLoopback(server, 0, { name: "the gateway", option: "" });
  return {
    url: `http://127.0.0.1:${listening.port}`,
    answers,
    follow(cluster) {
      followed = cluster;
    },
    [Symbol.asyncDispose]: () => listening.close(),
  };
}

/** The part of PromQL that Flagger's success rate needs: the share of the canary's answers without 5xx in the last minute. */
function valueOf(query: string, answers: readonly Answered[], canary: string): number | undefined {
  if (query === "vector(1)") return 1;
  if (!query.includes("http_request_duration_seconds_count")) return undefined;
  const since = Date.now() - windowMs;
  const recent = answers.filter(({ at, service }) => at >= since && service === canary);
  if (recent.length === 0) return undefined;
  return (recent.filter(({ status }) => status < 500).length / recent.length) * 100;
}

async function readBackends(cluster: Cluster, name: string, signal: AbortSignal): Promise<readonly Backend[]> {
  const list = (group: string, kind: string) => cluster.list({ group, version: "v1", kind, namespace }, signal);
  const ref = { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute", namespace, name };
  const [live, services, deployments] = await Promise.all([
    cluster.get(ref, signal),
    list("", "Service"),
    list("apps", "Deployment"),
  ]);
  const route = Route.safeParse(live).data;
  const refs = route?.spec.rules.flatMap(({ backendRefs }) => backendRefs) ?? [];
  return refs.map((backend) => ({
    service: backend.name,
    weight: backend.weight,
    image: imageBehind(backend.name, services, deployments),
  }));
}

/** The image of the ready pods that a Service selects. */
function imageBehind(name: string, services: readonly LiveObject[], deployments: readonly LiveObject[]): string {
  const service = services.find(({ metadata }) => metadata.name === name);
  const selector = Object.entries(Service.safeParse(service).data?.spec.selector ?? {});
  const behind = deployments
    .flatMap((one) => Deployment.safeParse(one).data ?? [])
    .find(({ spec: { template }, status: { availableReplicas } }) => {
      const { labels } = template.metadata;
      return availableReplicas > 0 && selector.every(([key, value]) => labels[key] === value);
    });
  return behind?.spec.template.spec.containers[0]?.image ?? "";
}
