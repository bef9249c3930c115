import { Agent, createServer, type IncomingMessage, request as onward, type ServerResponse } from "node:http";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { smoothWeights } from "../../../local/demo/smooth-weights.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";
import { readBackends } from "./backends.ts";

/** One request that has come through the proxy. */
export interface Passed {
  /** Of the canary in the route, in percent. */
  readonly weight: number;
  /** Empty if no pod was ready. */
  readonly pod: string;
  readonly image: string;
  readonly status: number;
}

/**
 * A proxy that sends each request `/NAMESPACE` to a ready pod, by the weights of the HTTPRoute `podinfo` there, and tells Prometheus what
 * it has counted, as pods that measure themselves would.
 */
export interface WeightedProxy extends AsyncDisposable {
  /** `HOST:PORT`. */
  readonly address: string;
  passed(namespace: string): readonly Passed[];
}

/** So long a gateway may route by what it has read. */
const freshMs = 100;

/** @param serverOf what runs in the pods of an image, which run nothing here: its URL */
export async function weightedProxy(
  cluster: Cluster,
  serverOf: (image: string) => string,
  signal: AbortSignal,
): Promise<WeightedProxy> {
  const passed = new Map<string, Passed[]>();
  const known = new Map<string, { readonly at: number; readonly backends: ReturnType<typeof readBackends> }>();
  const chooserOf = new Map<string, ReturnType<typeof smoothWeights>>();
  const agent = new Agent({ keepAlive: true });

  const backendsOf = (namespace: string): ReturnType<typeof readBackends> => {
    const last = known.get(namespace);
    if (last !== undefined && Date.now() - last.at <= freshMs) return last.backends;
    const backends = readBackends(cluster, { namespace, name: "podinfo" }, signal);
    known.set(namespace, { at: Date.now(), backends });
    return backends;
  };
  const pass = async (namespace: string): Promise<Passed> => {
    const backends = await backendsOf(namespace);
    const chosen = chooserOf.get(namespace) ?? smoothWeights();
    chooserOf.set(namespace, chosen);
    const weight = backends.find(({ service }) => service === "podinfo-canary")?.weight ?? 0;
    const [pod] = chosen(backends)?.pods ?? [];
    if (pod === undefined) return { weight, pod: "", image: "", status: 503 };
    return { weight, pod: pod.name, image: pod.image, status: await statusOf(serverOf(pod.image), agent) };
  };
  const handle = async ({ url = "" }: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (url === "/metrics") {
      response.setHeader("content-type", "text/plain; version=0.0.4");
      response.end([...passed].flatMap(([namespace, all]) => countersOf(namespace, all)).join(""));
      return;
    }
    const namespace = url.slice(1);
    const one = await pass(namespace);
    passed.set(namespace, [...(passed.get(namespace) ?? []), one]);
    response.writeHead(one.status).end();
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  const port = await portOnLoopback(server);
  return {
    address: `127.0.0.1:${port}`,
    passed: (namespace) => passed.get(namespace) ?? [],
    async [Symbol.asyncDispose]() {
      await closeServer(server);
      agent.destroy();
    },
  };
}

function statusOf(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = onward(url, { agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });
}

const statuses = [200, 500, 503];

/** The counters that Flagger's queries of the Gateway API read: those of a pod begin together, so that their rates are of the same time. */
function countersOf(namespace: string, all: readonly Passed[]): readonly string[] {
  return [...Map.groupBy(all, ({ pod }) => pod)].flatMap(([pod, ofPod]) =>
    statuses.map((status) => {
      const { length } = ofPod.filter((one) => one.status === status);
      const labels = `kubernetes_namespace="${namespace}",kubernetes_pod_name="${pod}",status="${status}"`;
      return `http_request_duration_seconds_count{${labels}} ${length}\n`;
    }),
  );
}
