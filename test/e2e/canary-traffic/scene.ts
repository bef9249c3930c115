import { createServer } from "node:http";
import { vi } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { withinDeadline } from "../../deadline.ts";
import { closeServer } from "../../doubles/close-server.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

/** Versions of what runs in the pods. Of the last one every other answer is a 500. */
export const images = { first: "podinfo:1", second: "podinfo:2", faulty: "podinfo:3-faulty" } as const;

/** The programs of all images: pods of the control plane run nothing. */
export async function podServers(): Promise<{ readonly of: (image: string) => string } & AsyncDisposable> {
  const open = new AsyncDisposableStack();
  const urls = new Map<string, string>();
  for (const image of Object.values(images)) {
    let answers = 0;
    const server = createServer((_request, response) => {
      answers += 1;
      response.writeHead(image === images.faulty && answers % 2 === 0 ? 500 : 200).end();
    });
    urls.set(image, `http://127.0.0.1:${await portOnLoopback(server)}/`);
    open.defer(() => closeServer(server));
  }
  return {
    of: (image) => urls.get(image) ?? "",
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export function deployment(namespace: string, image: string): Manifest {
  const labels = { app: "podinfo" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "podinfo", namespace },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "podinfod", image, ports: [{ name: "http", containerPort: 9898 }] }] },
      },
    },
  };
}

/** Half of the requests until a check passes, then all of them. The Prometheus is that of the installation. */
export function canary(namespace: string, threshold: number): Manifest {
  return {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    metadata: { name: "podinfo", namespace },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "podinfo" },
      service: { port: 9898, gatewayRefs: [{ name: "gateway", namespace: "gateways" }] },
      analysis: {
        interval: "10s",
        threshold,
        stepWeight: 50,
        maxWeight: 50,
        metrics: [{ name: "request-success-rate", interval: "1m", thresholdRange: { min: 99 } }],
      },
    },
  };
}

/**
 * Prometheus as a Service of the cluster. Its Pod has an address of this machine: an API server passes requests on to nothing but Pods, and
 * accepts no loopback address.
 */
export async function prometheusInCluster(
  cluster: Cluster,
  namespace: string,
  { ip, port }: { readonly ip: string; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  const options = { manager: "kubectl", force: true };
  const metadata = { name: "prometheus", namespace };
  const apply = (kind: string, fields: JsonObject) =>
    cluster.apply({ apiVersion: "v1", kind, metadata, ...fields }, options, signal);
  // No scheduler takes it, so no kubelet writes its status.
  const spec = { schedulerName: "none", containers: [{ name: "prometheus", image: "prometheus" }] };
  // Refused as long as the namespace has no service account.
  await vi.waitFor(() => apply("Pod", { spec }), withinDeadline);
  const status = {
    phase: "Running",
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  const ref = { group: "", version: "v1", kind: "Pod", namespace, name: "prometheus" };
  await cluster.patch(ref, { type: "merge", body: { status } }, { ...options, subresource: "status" }, signal);
  await apply("Service", { spec: { ports: [{ port: 9090, targetPort: port }] } });
  const targetRef = { kind: "Pod", namespace, name: "prometheus" };
  await apply("Endpoints", { subsets: [{ addresses: [{ ip, targetRef }], ports: [{ port }] }] });
}
