import { chmod, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { ecrHosts } from "../functions/ingest.ts";
import { defaultSettings, type Settings } from "../functions/settings/settings.ts";
import { messageOf } from "../lib/core/failure.ts";
import { networkPolicy } from "../lib/core/network/network-policy.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { systemClock } from "../lib/core/system-clock.ts";
import { kustomizeModule, wasmEngine } from "../lib/engine/wasm-engine.ts";
import { ownerCheck, takeOver } from "../lib/gate/cluster-owner.ts";
import { gatedCluster } from "../lib/gate/gated-cluster.ts";
import { writeGate } from "../lib/gate/write-gate.ts";
import { httpClient } from "../lib/http/http-client.ts";
import type { SentRequest } from "../lib/kube/api-client.ts";
import { connect } from "../lib/kube/connect.ts";
import { readKubeconfig } from "../lib/kube/kubeconfig.ts";
import { ecrPush, localAccount } from "./ecr-push.ts";
import { installCrds } from "./install-crds.ts";
import { startKubernetes } from "./kubernetes/start-kubernetes.ts";
import { localFlows } from "./local-flows.ts";
import { ownInstallation } from "./own-installation.ts";
import { refuseBesideFlux } from "./refuse-beside-flux.ts";
import { type Registry, startRegistry } from "./registry/start-registry.ts";
import { type Ports, portToTake, readPorts, writePorts } from "./remembered-ports.ts";
import { startReceiver } from "./start-receiver.ts";
import { type Runtime, startRuntime } from "./start-runtime.ts";
import { openStores } from "./state/open-stores.ts";
import { openStateFolder, type StateFolder } from "./state-folder.ts";

export interface LocalOptions {
  /** The state folder. */
  readonly state: string;
  /** Ports on 127.0.0.1; 0 takes a free one. Where none is given it is that of the last start, and a free one the first time. */
  readonly registryPort?: number | undefined;
  readonly receiverPort?: number | undefined;
  readonly apiPort?: number | undefined;
  /** Names that the registry, the receiver and the Kubernetes API answer to, beside those of loopback: `NAME` or `NAME:PORT`. */
  readonly names?: readonly string[];
  /** The cluster to work on, in place of the embedded one. */
  readonly kubeconfig?: { readonly file: string; readonly context?: string };
  /** The defaults where there are none. */
  readonly settings?: Settings;
  /** What credential plugins of a kubeconfig inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Told of every request that Sluice sends to the API server. */
  readonly observe?: (request: SentRequest) => void;
}

export interface LocalSluice {
  /** The kubeconfig file of the cluster that is worked on, absolute. */
  readonly kubeconfig: string;
  /** `127.0.0.1:PORT`. */
  readonly registry: string;
  /** `http://127.0.0.1:PORT`. */
  readonly receiver: string;
  /** The state folder, absolute. */
  readonly state: string;
  /** Hands every run back and stops everything, within 5 s. */
  close(): Promise<void>;
}

/**
 * Starts all of Sluice in this process: state, registry, Kubernetes API (or a client of another), the functions and what
 * feeds them. Throws one clear error where a part cannot start, with nothing left running.
 */
export async function startLocal(options: LocalOptions, signal: AbortSignal): Promise<LocalSluice> {
  const { log, names = [], settings = defaultSettings } = options;
  const clock = systemClock;
  await using starting = new AsyncDisposableStack();
  const state = await openStateFolder(options.state, clock, signal);
  starting.defer(() => state.close());
  const ports = await readPorts(state);
  const stores = openStores(state.database, state.artifacts, clock);

  const api: Api = options.kubeconfig ?? (await startEmbedded(options, state, ports, starting));
  const connected = await connectTo(api, options, clock);
  starting.defer(() => connected.close());
  const clusterUid = await clusterUidOf(connected, api.file, signal);
  const self = ownInstallation(state, api);
  // The embedded cluster belongs to its state folder, even if another installation took it over meanwhile.
  if (options.kubeconfig === undefined) await takeOver(self, { cluster: connected, clock }, signal);
  else await refuseBesideFlux(connected, { clock, log }, signal);
  const gate = writeGate([ownerCheck(self, { cluster: connected, clock })], { clock, log });
  await gate.enter(signal);
  const cluster = gatedCluster(connected, gate);
  await installCrds(cluster, { clock, log }, signal);

  const engine = wasmEngine({ file: kustomizeModule, threads: 2, idleMs: 60_000 });
  starting.defer(() => engine.close());
  // A push may come before the functions are there to hear of it: it waits for them.
  const functions = Promise.withResolvers<Runtime>();
  functions.promise.catch(() => undefined);
  starting.defer(() => functions.reject(new Error("not started")));
  const registry = await startRegistry({
    folder: state.registry,
    port: portToTake(options.registryPort, ports.registry),
    log,
    names,
    onPush: async (push) => (await functions.promise).ingest(ecrPush(push, clock.now())),
  });
  starting.defer(() => registry.close());
  const http = httpClient({ network: networkPolicy(settings.network, "home", addressesOf(registry)) });
  starting.defer(() => http.close());
  const receiver = await startReceiver(portToTake(options.receiverPort, ports.receiver), names);
  starting.defer(() => receiver.close());

  const runtime = await startRuntime(
    {
      stores,
      cluster,
      gate,
      clusterName: clusterUid,
      flows: (requests) => localFlows({ state, stores, cluster, http, engine, settings, clock, log }, requests),
      registryHosts: (account, region) => hostsOf(registry, account, region),
      clock,
      log,
    },
    signal,
  );
  starting.defer(() => runtime.stop());
  functions.resolve(runtime);
  await writePorts(state, {
    ...ports,
    registry: portOf(registry.address),
    receiver: portOf(receiver.url),
    ...api.ports,
  });

  const running = starting.move();
  return {
    kubeconfig: resolve(api.file),
    registry: registry.address,
    receiver: receiver.url,
    state: state.path,
    close: () => running.disposeAsync(),
  };
}

interface Api {
  readonly file: string;
  readonly context?: string;
  readonly ports?: Pick<Ports, "api">;
}

/** Starts the embedded API server and writes the kubeconfig that everybody reaches it by. */
async function startEmbedded(
  { apiPort, log, names = [] }: LocalOptions,
  state: StateFolder,
  ports: Ports,
  starting: AsyncDisposableStack,
): Promise<Api> {
  const port = portToTake(apiPort, ports.api);
  const server = await startKubernetes({ stateFolder: state.path, port, controllers: true, log, names });
  starting.defer(() => server.close());
  await writeFile(state.kubeconfig, server.kubeconfig(), { mode: 0o600 });
  await chmod(state.kubeconfig, 0o600);
  return { file: state.kubeconfig, ports: { api: server.port } };
}

async function connectTo(
  { file, context }: Api,
  { env, observe, log }: LocalOptions,
  clock: Clock,
): Promise<ReturnType<typeof connect>> {
  const config = await readKubeconfig({ file, ...(context === undefined ? {} : { context }), env, homeDir: homedir() });
  return connect(config, {
    clock,
    env,
    observe: (request) => {
      log.debug("api request", { ...request });
      observe?.(request);
    },
  });
}

async function clusterUidOf(cluster: Cluster, kubeconfig: string, signal: AbortSignal): Promise<string> {
  try {
    return await cluster.uid(signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`the cluster of kubeconfig ${kubeconfig} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

/** How sources may name a registry. */
function hostsOf(registry: Registry, account: string, region: string): readonly string[] {
  return account === localAccount ? addressesOf(registry) : ecrHosts(account, region);
}

/** The embedded registry by both names of this machine. */
function addressesOf({ address }: Registry): readonly string[] {
  return [address, `localhost:${portOf(address)}`];
}

/** The port at the end of an address or URL. */
function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}
