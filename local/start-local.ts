import { chmod, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { composeFlows, type FlowAdapters } from "../functions/compose-flows.ts";
import { ecrHosts } from "../functions/ingest/ecr.ts";
import { configSelector } from "../functions/settings/flow-settings.ts";
import { defaultSettings, type Settings } from "../functions/settings/settings.ts";
import { kmsDataKeys } from "../lib/aws/kms-data-keys.ts";
import { awsNotificationTargets } from "../lib/aws/notification-targets.ts";
import { celModule, wasmCel } from "../lib/cel/wasm-cel.ts";
import { networkPolicy } from "../lib/core/network/network-policy.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { DataKeys } from "../lib/core/ports/data-keys.ts";
import { type Log } from "../lib/core/ports/log.ts";
import { kustomizeModule, wasmEngine } from "../lib/engine/wasm-engine.ts";
import { helmModule, wasmHelm } from "../lib/engine/wasm-helm.ts";
import type { Kind } from "../lib/flows/kinds/kind.ts";
import { kinds as allKinds } from "../lib/flows/kinds/kinds.ts";
import { httpClient } from "../lib/http/http-client.ts";
import type { SentRequest } from "../lib/kube/api-client.ts";
import { remoteClusters } from "../lib/kube/remote-clusters.ts";
import type { ProviderType } from "../lib/notify/admits.ts";
import { commitStatuses } from "../lib/notify/commit-status-id.ts";
import { listedAlerts } from "../lib/notify/listed-alerts.ts";
import { awsProviders } from "../lib/notify/providers/aws-providers.ts";
import { providers } from "../lib/notify/providers/providers.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { logMetrics } from "../lib/process/write-log.ts";
import { authentications } from "../lib/receiver/authenticate.ts";
import { issuedTokens } from "../lib/receiver/issued-tokens.ts";
import { githubAppLogins } from "../lib/sources/git/github-app.ts";
import { ecrPush, localAccount } from "./aws-events.ts";
import { logOfCluster, namingClusters } from "./cluster-log.ts";
import { type JoinedCluster, joinClusters } from "./join-clusters.ts";
import { type ClusterEntry, configOf, openCluster } from "./open-cluster.ts";
import { recentNotifications } from "./recent-notifications.ts";
import { type Registry, startRegistry } from "./registry/start-registry.ts";
import { type Ports, portToTake, readPorts, writePorts } from "./remembered-ports.ts";
import { startEmbeddedCluster } from "./start-embedded-cluster.ts";
import { notificationsPath, startReceiver } from "./start-receiver.ts";
import { type Runtime, startRuntime } from "./start-runtime.ts";
import { openStores, type Stores } from "./state/open-stores.ts";
import { openStateFolder, type StateFolder } from "./state-folder.ts";

type Entries = readonly [ClusterEntry, ...ClusterEntry[]];

export interface LocalOptions {
  /** The state folder. */
  readonly state: string;
  /** Ports on 127.0.0.1, 0 for a free one. The default is the port of the last start, and a free one at the first start. */
  readonly registryPort?: number | undefined;
  readonly receiverPort?: number | undefined;
  readonly apiPort?: number | undefined;
  /** Names that the registry, the receiver and the Kubernetes API answer to besides those of loopback: `NAME` or `NAME:PORT`. */
  readonly names?: readonly string[];
  /** The clusters to work on, in place of the embedded one; each has a name of its own. */
  readonly clusters?: Entries;
  /** The defaults if undefined. */
  readonly settings?: Settings;
  /** The types of Provider that notifications can go to, by their names; by default all that it has. */
  readonly providers?: Readonly<Record<string, ProviderType>>;
  /** The kinds that Sluice reconciles; by default all that it has. */
  readonly kinds?: readonly Kind[];
  /** The environment that credential plugins of a kubeconfig inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** By default the machine's own clocks. */
  readonly clock?: Clock;
  /** Called with every request that Sluice sends to an API server. */
  readonly observe?: (request: SentRequest) => void;
}

export interface LocalSluice {
  /** The kubeconfig file of the first cluster, absolute. */
  readonly kubeconfig: string;
  /** What it works on, in the order in which they were given. */
  readonly clusters: readonly JoinedCluster[];
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
 * Starts all of Sluice in this process: state, registry, Kubernetes API (or clients of others), the functions and their
 * feeders. Throws one clear error if a part cannot start, and leaves nothing running.
 */
export async function startLocal(options: LocalOptions, signal: AbortSignal): Promise<LocalSluice> {
  const { names = [], settings = defaultSettings, kinds = allKinds, clock = systemClock } = options;
  await using starting = new AsyncDisposableStack();
  const state = await openStateFolder(options.state, clock, signal);
  starting.defer(() => state.close());
  const ports = await readPorts(state);
  const stores = openStores(state.database, state.artifacts, clock);

  const apiPort = options.clusters === undefined ? await startEmbedded(options, state, ports, starting) : undefined;
  const entries: Entries = options.clusters ?? [{ name: "embedded", file: state.kubeconfig }];
  // What is wrong with a file ends the start, before anything waits for a cluster.
  await Promise.all(entries.map((entry) => configOf(entry, options.env)));
  const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
  starting.defer(() => cel.close());
  const engine = wasmEngine({ file: kustomizeModule, threads: 2, idleMs: 60_000 });
  starting.defer(() => engine.close());
  const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
  starting.defer(() => helm.close());
  // A push may come before the functions have started: it waits for them.
  const functions = Promise.withResolvers<Runtime>();
  functions.promise.catch(() => undefined);
  // Before the clusters, which are told its address.
  const recent = recentNotifications(clock);
  const receiver = await startReceiver({
    port: portToTake(options.receiverPort, ports.receiver),
    ...{ names, log: options.log, pages: { [notificationsPath]: () => recent.page() } },
    receive: async (request) => (await functions.promise).receive(request),
  });
  starting.defer(() => receiver.close());
  const connections = starting.use(new AsyncDisposableStack());
  const isMany = entries.length > 1;
  const joining = joinClusters(
    {
      entries,
      async open(entry, onId, stop) {
        const { env, observe } = options;
        const clusterLog = isMany ? logOfCluster(options.log, entry.name) : options.log;
        const deps = { state, kinds, env, clock, observe, onId, receiver: receiver.url, log: clusterLog };
        const cluster = await openCluster(entry, options.clusters === undefined, deps, stop);
        connections.defer(() => cluster.close());
        return cluster;
      },
      serve: async (cluster) => (await functions.promise).serve(cluster),
      clock,
      log: options.log,
    },
    signal,
  );
  starting.defer(() => joining.stop());
  // Before that: a cluster that is open waits for them.
  starting.defer(() => functions.reject(new Error("not started")));
  const log = isMany ? namingClusters(options.log, joining.nameOf) : options.log;
  const registry = await startRegistry({
    folder: state.registry,
    port: portToTake(options.registryPort, ports.registry),
    log,
    names,
    onPush: async (push) => (await functions.promise).ingest(ecrPush(push, clock.now())),
  });
  starting.defer(() => registry.close());
  const network = networkPolicy(settings.network, "home", addressesOf(registry));
  const http = httpClient({ network });
  starting.defer(() => http.close());
  const remotes = remoteClusters({ clock, network, observe: options.observe });
  starting.defer(() => remotes.close());

  const alerts = listedAlerts(clock);
  const runtime = await startRuntime(
    {
      ...{ stores, cel },
      clusterCount: entries.length,
      kinds,
      configSelector: configSelector(settings),
      gates: settings["feature-gates"],
      flows: composeFlows(kinds, {
        ...localParts(state, stores, settings, { clock, log }),
        ...{ engine, helm, cel, http, remoteClusters: remotes },
        alertsChanged: (cluster) => alerts.forget(cluster),
      }),
      authentications: { ...authentications, ...issuedTokens({ cel, clock, http }) },
      notify: {
        ...{ alerts, http, dial: http.dial, githubApps: githubAppLogins(http, clock) },
        providers: options.providers ?? providersHere(clock),
        ...{ commitStatusOf: commitStatuses(cel), recent },
        noCrossNamespaceRefs: settings["no-cross-namespace-refs"],
        serviceNamespaces: settings["notification-service-namespaces"],
      },
      registryHosts: (account, region) => hostsOf(registry, account, region),
      clock,
      log,
    },
    signal,
  );
  starting.defer(() => runtime.stop());
  functions.resolve(runtime);
  await joining.begun;
  await writePorts(state, {
    ...ports,
    registry: portOf(registry.address),
    receiver: portOf(receiver.url),
    ...(apiPort === undefined ? {} : { api: apiPort }),
  });

  const running = starting.move();
  return {
    kubeconfig: resolve(entries[0].file),
    clusters: joining.clusters(),
    registry: registry.address,
    receiver: receiver.url,
    state: state.path,
    close: () => running.disposeAsync(),
  };
}

/** Every type of Provider. AWS's logins are refused: the credentials of the user who started Sluice are not lent. */
function providersHere(clock: Clock): Readonly<Record<string, ProviderType>> {
  return {
    ...providers,
    ...awsProviders(awsNotificationTargets({ connection: {}, clock, isAllowed: () => false })),
  };
}

/** Starts the embedded API server, writes its kubeconfig and answers its port. */
async function startEmbedded(
  { apiPort, log, names = [] }: LocalOptions,
  state: StateFolder,
  ports: Ports,
  starting: AsyncDisposableStack,
): Promise<number> {
  const port = portToTake(apiPort, ports.api);
  const server = await startEmbeddedCluster({ stateFolder: state.path, port, names, log });
  starting.defer(() => server.close());
  await writeFile(state.kubeconfig, server.kubeconfig(), { mode: 0o600 });
  await chmod(state.kubeconfig, 0o600);
  return server.port;
}

/** The host names by which sources may refer to a registry. */
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

type LocalParts = Omit<FlowAdapters, "cel" | "engine" | "helm" | "http" | "remoteClusters">;

/** What flows need of the state folder, the settings and this process. */
export function localParts(
  { installationKey }: Pick<StateFolder, "installationKey">,
  { subscriptions, artifacts, records, inventories, ledger, history, receivers, imageTags }: Stores,
  settings: Settings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): LocalParts {
  return {
    ...{ subscriptions, artifacts, records, inventories, ledger, history, receivers, imageTags, artifactUrl },
    ...{ installationKey, settings, clock, log, metrics: logMetrics(log), dataKeys: tenantsDataKeys(clock) },
    concurrency: settings["concurrent-ssa"],
  };
}

/** A key's ARN names its region. The credentials of the user who has started Sluice are not lent: tenants bring their own. */
function tenantsDataKeys(clock: Clock): DataKeys {
  return kmsDataKeys({ connection: { region: "us-east-1" }, clock, isAllowed: () => false });
}

/** No server serves artifacts here: consumers read them from the store by their digest. */
function artifactUrl(path: string): string {
  return `http://sluice.invalid/${path}`;
}
