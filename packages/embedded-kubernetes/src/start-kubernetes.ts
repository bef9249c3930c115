import { once } from "node:events";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { DatabaseSync } from "node:sqlite";
import type { ControllerOptions } from "./controllers/start-controllers.ts";
import { messageOf } from "./core/api-object.ts";
import { type Log, silentLog } from "./core/log.ts";
import { kubeconfigText } from "./kubeconfig-text.ts";
import { serve } from "./serve.ts";
import { allocatorOf } from "./server/allocator.ts";
import { bootstrap } from "./server/bootstrap.ts";
import type { Cluster } from "./server/cluster.ts";
import { expireEvents } from "./server/expire-events.ts";
import { refuseWebPage } from "./server/refuse-web-page.ts";
import { resourcesIn } from "./server/resources.ts";
import { usersIn } from "./server/users.ts";
import { openStore } from "./store/store.ts";

export type { Log } from "./core/log.ts";
export { UnusableState } from "./store/open-database.ts";

export interface KubernetesOptions {
  /** Holds everything, made if it is missing; a cluster started on it again goes on where the last one ended. */
  readonly stateFolder: string;
  /** On 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number;
  /** Whether workloads become ready, dependents are collected and namespaces end; by default they do. */
  readonly controllers?: boolean;
  /** Silent by default. */
  readonly log?: Log;
  /** Opens the database's file, for example with errors of its own for a full disk. `new DatabaseSync(file)` by default. */
  readonly openDatabase?: (file: string) => DatabaseSync;
  /** Has the server listen, in place of `port`: for example with an error that names the process that has the port. */
  readonly listen?: (server: Server) => Promise<Listening>;
  /**
   * Says why a request is refused before anything else of it is read, or `undefined`. By default a request under a name that is
   * not one of loopback, and one from a web page, is refused.
   */
  readonly refuse?: (headers: IncomingHttpHeaders) => string | undefined;
}

export interface Listening {
  readonly port: number;
  /** Ends the listening and every connection, those in use too. */
  close(): Promise<void>;
}

export interface Kubernetes {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** Bearer token of the user `sluice`, who may do everything. */
  readonly token: string;
  /** The text of a kubeconfig of the user `admin`, with this cluster as the current context. */
  kubeconfig(): string;
  close(): Promise<void>;
}

const limits = { maxHeaderSize: 32_768, headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 60_000 };

/** How long after a request another is expected to follow. */
const busyMs = 10;

// Without the ES module facade of node:http: making that reads every export, and one of them (WebSocket) loads undici, which
// costs 12 MB and 100 ms in each process.
const { createServer } = process.getBuiltinModule("node:http");

/**
 * Starts the embedded Kubernetes API server: plain HTTP on loopback, everything in one SQLite file.
 *
 * @throws {UnusableState} if the state folder cannot be written, or its file is damaged or of a newer version
 */
export async function startKubernetes(options: KubernetesOptions): Promise<Kubernetes> {
  const { stateFolder, port = 0, controllers = true, log = silentLog, refuse = refuseWebPage } = options;
  const { openDatabase, listen = (server: Server) => listenAt(server, port) } = options;
  await using opening = new AsyncDisposableStack();
  const opened = openCluster(stateFolder, openDatabase);
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
  const server = createServer(limits, (request, response) => {
    askedAt = performance.now();
    void serve(request, response, { cluster, users, log, refuse });
  });
  const listening = await listen(server);
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

async function listenAt(server: Server, port: number): Promise<Listening> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(`the embedded cluster cannot listen on 127.0.0.1:${port}: ${messageOf(error)}`, { cause: error });
  }
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
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

/**
 * The cluster that the state folder holds.
 *
 * @param open opens the database's file; `new DatabaseSync(file)` by default
 */
function openCluster(
  stateFolder: string,
  open?: (file: string) => DatabaseSync,
): { readonly cluster: Cluster; close(): void } {
  const store = openStore(stateFolder, open);
  const resources = resourcesIn(store);
  return {
    cluster: { store, resources, allocator: allocatorOf(store), now: () => new Date() },
    close: () => store.close(),
  };
}
