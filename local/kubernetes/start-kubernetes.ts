import type { Log } from "../../lib/core/ports/log.ts";
import { createServer } from "../../lib/kube/node-http.ts";
import { listenOnLoopback } from "../listen-on-loopback.ts";
import type { ControllerOptions } from "./controllers/start-controllers.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";
import { bootstrap } from "./server/bootstrap.ts";
import type { Cluster } from "./server/cluster.ts";
import { expireEvents } from "./server/expire-events.ts";
import { openCluster } from "./server/open-cluster.ts";
import { serve } from "./server/serve.ts";
import { usersIn } from "./server/users.ts";

export interface KubernetesOptions {
  /** Holds everything, made where it is missing; a cluster started on it again goes on where the last one ended. */
  readonly stateFolder: string;
  /** On 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  /** Whether workloads become ready, dependents are collected and namespaces end. */
  readonly controllers: boolean;
  readonly log: Log;
  /** That it answers to, beside those of loopback: `NAME` or `NAME:PORT`. */
  readonly names?: readonly string[];
}

export interface Kubernetes {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** Bearer token of the user `sluice`. */
  readonly token: string;
  /** Of the user `admin`, with this cluster as the current context. */
  kubeconfig(): string;
  close(): Promise<void>;
}

const limits = { maxHeaderSize: 32_768, headersTimeoutMs: 15_000, requestTimeoutMs: 60_000 };

/** How long after a request another is expected to follow. */
const busyMs = 10;

/** Starts the embedded Kubernetes API server: plain HTTP on loopback, everything in one SQLite file. */
export async function startKubernetes(options: KubernetesOptions): Promise<Kubernetes> {
  const { stateFolder, port, controllers, log, names = [] } = options;
  await using opening = new AsyncDisposableStack();
  const opened = openCluster(stateFolder);
  opening.defer(() => {
    opened.close();
  });
  const { cluster } = opened;
  const users = usersIn(stateFolder);
  bootstrap(cluster);
  const expiry = expireEvents(cluster);
  opening.defer(() => {
    expiry.stop();
  });
  let askedAt = Number.NEGATIVE_INFINITY;
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderSize,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: 60_000,
    },
    (request, response) => {
      askedAt = performance.now();
      void serve(request, response, { cluster, users, log, names });
    },
  );
  const listening = await listenOnLoopback(server, port, { name: "the embedded cluster", option: "--api-port" });
  opening.defer(() => listening.close());
  if (controllers) {
    const running = await startControllersOn(cluster, {
      log,
      isBusy: () => performance.now() - askedAt < busyMs,
    });
    opening.defer(() => running.stop());
  }
  const url = `http://127.0.0.1:${listening.port}`;
  const open = opening.move();
  return {
    url,
    port: listening.port,
    token: users.tokens.sluice,
    kubeconfig: () => kubeconfigText(url, users.tokens.admin),
    close: () => open.disposeAsync(),
  };
}

async function startControllersOn(cluster: Cluster, options: ControllerOptions): Promise<{ stop(): Promise<void> }> {
  // Loaded only where they run.
  const [{ startControllers }, { controllerClient }] = await Promise.all([
    import("./controllers/start-controllers.ts"),
    import("./server/controller-client.ts"),
  ]);
  return startControllers(controllerClient(cluster), options);
}
