import { objectCache } from "../../../../lib/flows/kustomization/object-cache.ts";
// Loaded before the first run: in simulated time no module is loaded.
import "../../../../lib/flows/kustomization/finalize.ts";
import { declaredOciRepository } from "../../../../lib/api/kinds/oci-repository.ts";
import { ownerLabels } from "../../../../lib/api/names.ts";
import { usualRules } from "../../../../lib/apply/set/apply-rules.ts";
import { digestOf } from "../../../../lib/core/digest.ts";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import type { InventoryEntry } from "../../../../lib/core/ports/inventory-store.ts";
import type { Claim } from "../../../../lib/core/ports/ledger.ts";
import type { Run } from "../../../../lib/core/ports/run.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { sourceTopic } from "../../../../lib/core/topics.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";
import { kinds } from "../../../../lib/flows/kinds/kinds.ts";
import { reportOutage, retryOutages, stateErrorsAsOutages } from "../../../../lib/flows/kinds/outages.ts";
import type { KustomizationDeps } from "../../../../lib/flows/kustomization/context.ts";
import { kustomizationFlow } from "../../../../lib/flows/kustomization/kustomization-flow.ts";
import { finishBuild } from "../../../../lib/manifests/finish-build.ts";
import type { observeResource } from "../../../../lib/queue/observe-resource.ts";
import { reconcileRequests } from "../../../../lib/queue/request-reconcile.ts";
import { sqliteImageTags } from "../../../../local/state/image-tags.ts";
import { sqliteInventoryStore } from "../../../../local/state/inventory-store.ts";
import { sqliteLedger } from "../../../../local/state/ledger.ts";
import { sqliteObservedResources } from "../../../../local/state/observed-resources.ts";
import { sqliteReceiverIndex } from "../../../../local/state/receiver-index.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { noCel } from "../../../doubles/no-cel.ts";
import { noKeyServices } from "../../../doubles/no-key-services.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { skippingClock } from "../../../e2e/flow/skipping-clock.ts";
import { type Cast, type Simulation, startSimulation } from "../../queue/simulator/simulation.ts";
import { newSubject } from "../../queue/simulator/subject.ts";
import { announcer } from "./announce.ts";
import { type Ports, portsOf, type Watcher } from "./ports-of-run.ts";
import { type SimulatedCluster, simulatedCluster } from "./simulated-cluster.ts";

export const namespace = "apps";
const clusterUid = "cluster-uid";
const kustomizations = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
const sources = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" };

/** What each Kustomization's folder in an artifact holds: names of ConfigMaps. */
export type Content = Readonly<Record<string, readonly string[]>>;

/** What a test takes out of the rules about who owns what. */
export interface OwnershipMutation {
  readonly ports?: (ports: Ports, run: Run, world: OwnershipWorld) => Partial<Ports>;
  readonly observe?: typeof observeResource;
}

/** The real flow of Kustomizations over the real state stores, on a simulated cluster and under the simulator's faults. */
export interface OwnershipWorld extends Disposable {
  readonly cluster: SimulatedCluster;
  readonly simulation: Simulation;
  watcher: Watcher;
  /** When which Kustomization was deleted. */
  readonly removals: readonly { readonly name: string; readonly at: number }[];
  /** A new artifact of a source, which then tells everyone who listens, as often as it takes. */
  push(source: string, content: Content): void;
  /** Creates a Kustomization, or gives it another spec. */
  keep(name: string, spec: { readonly source: string; readonly prune: boolean }): void;
  remove(name: string): void;
  /** The minute's sweep. */
  sweep(): void;
  kustomization(name: string): LiveObject | undefined;
  inventory(name: string, uid: string): Promise<readonly InventoryEntry[] | undefined>;
  claims(id: string): Promise<readonly Claim[]>;
  listeners(source: string): Promise<readonly string[]>;
  /** Of the latest lease. */
  tokenOf(name: string): number;
}

export function ownershipWorld(
  names: readonly string[],
  { seed, mutation, traced }: { readonly seed: number; readonly mutation: OwnershipMutation; readonly traced: boolean },
): OwnershipWorld {
  const database = openStateDatabase(":memory:");
  const { signal: never } = new AbortController();
  const items = sqliteWorkItems(database);
  const subscriptions = sqliteSubscriptions(database);
  const observed = sqliteObservedResources(database);
  const inventories = sqliteInventoryStore(database, skippingClock());
  const ledger = sqliteLedger(database);
  const cluster = simulatedCluster();
  const contents = new Map<string, Content>();
  const keyOf = (name: string): WorkKey => newSubject(name).key;
  const sourceKeyOf = (name: string): WorkKey => ({ ...keyOf(name), group: sources.group, kind: sources.kind });

  const build: KustomizationDeps["build"] = async ({ artifact, spec, owner }) => {
    const folder = contents.get(artifact)?.[spec.path ?? ""] ?? [];
    const objects = folder.map((name) => ({
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } },
      data: { of: artifact },
    }));
    const manifests = finishBuild(objects, owner, spec.commonMetadata);
    return { manifests, digest: digestOf(artifact), carriesSecret: false, secrets: [] };
  };
  const flow: Cast["flow"] = (handling, run, deps) => {
    const { watcher } = self;
    const ports = portsOf(handling, run, {
      cluster,
      clusterUid,
      subscriptions,
      inventories,
      ledger,
      watcher,
      simulation,
    });
    const { clock, log } = deps;
    const parts: KustomizationDeps = {
      ...ports,
      ...mutation.ports?.(ports, run, self),
      ...{ clock, log, build },
      remoteTargetOf: () => Promise.reject(new Error("no Kustomization names another cluster")),
      requests: reconcileRequests(deps),
      metrics: recordedMetrics(),
      artifacts: {
        put: async () => {},
        get: async (digest) => new TextEncoder().encode(digest),
        has: async () => true,
      },
      records: { record: async () => {}, retain: async () => {}, recorded: async () => true },
      history: { append: async () => {}, latest: async () => [] },
      reconciled: kinds,
      jitter: () => 0.5,
      timing: defaultTiming,
      installationKey: new Secret("test"),
      concurrency: 4,
      http: { send: () => Promise.reject(new Error("nothing is downloaded")) },
      defaultServiceAccount: "",
      gates: defaultGates,
      applyRules: usualRules,
      cel: noCel,
      sources: [declaredOciRepository],
      noCrossNamespaceRefs: false,
      sopsIgnoreMac: false,
      explainHealthFailures: true,
      objects: objectCache(),
      sopsKeys: noKeyServices,
    };
    const state = { ...parts, receivers: sqliteReceiverIndex(database), imageTags: sqliteImageTags(database) };
    return retryOutages(kustomizationFlow({ ...parts, ...stateErrorsAsOutages(state) }), {
      ...{ clock, log },
      report: (of, failure, wasReported) => reportOutage(of, failure, wasReported, { home: parts.home, clock, kinds }),
    })(run);
  };

  const table = { truth: items, connect: () => ({ items, save: async () => {} }) };
  const simulation = startSimulation(seed, {}, traced, { names, machines: 3, flow, table });
  const announce = announcer({ subscriptions, observed, observe: mutation.observe }, simulation);

  const removals: { readonly name: string; readonly at: number }[] = [];
  const self: OwnershipWorld = {
    cluster,
    simulation,
    watcher: { step() {}, deletes() {} },
    removals,
    push(source, content) {
      const digest = digestOf(JSON.stringify([source, content, contents.size]));
      contents.set(digest, content);
      const ref = { ...sources, namespace, name: source };
      if (cluster.get(ref) === undefined) {
        const spec = { interval: "10h", url: "oci://127.0.0.1:1/repo" };
        const metadata = { name: source, namespace };
        const manifest = { apiVersion: `${sources.group}/v1`, kind: sources.kind, metadata, spec };
        cluster.apply(manifest, { manager: "test" });
      }
      const artifact = {
        ...{ digest, revision: `v${contents.size}@${digest}`, path: "p", url: "http://127.0.0.1/p" },
        lastUpdateTime: "2026-01-01T00:00:00Z",
      };
      cluster.patch(ref, { type: "merge", body: { status: { artifact } } }, { manager: "test" });
      simulation.world.trace(() => `${source} has ${JSON.stringify(content)}`);
      announce.pushed(sourceKeyOf(source));
    },
    keep(name, { source, prune }) {
      const sourceRef = { kind: sources.kind, name: source };
      const spec: JsonObject = { interval: "10h", prune, path: name, sourceRef };
      const metadata = { name, namespace };
      const manifest = { apiVersion: `${kustomizations.group}/v1`, kind: kustomizations.kind, metadata, spec };
      cluster.apply(manifest, { manager: "test" });
      announce.changed(keyOf(name), () => self.kustomization(name));
    },
    remove(name) {
      simulation.world.trace(() => `Kustomization ${name} is deleted`);
      removals.push({ name, at: simulation.world.time.now() });
      cluster.delete({ ...kustomizations, namespace, name }, {});
      announce.changed(keyOf(name), () => self.kustomization(name));
    },
    sweep() {
      const on = simulation.machine();
      simulation.sweepOn(on);
      announce.swept(on, keyOf(""), () => cluster.list(kustomizations));
    },
    kustomization: (name) => cluster.get({ ...kustomizations, namespace, name }),
    inventory: (name, uid) => inventories.load({ uid, clusterUid }, { key: keyOf(name), token: 0 }, never),
    claims: async (id) => (await ledger.claims(clusterUid, [id], never)).get(id) ?? [],
    listeners: async (source) =>
      (await subscriptions.subscribers(sourceTopic(sourceKeyOf(source)), never)).map(({ name }) => name),
    tokenOf(name) {
      const subject = simulation.subjects.find(({ key }) => key.name === name);
      return (subject && simulation.item(subject)?.token) ?? 0;
    },
    [Symbol.dispose]: () => database.close(),
  };
  return self;
}

/** Whose labels an object carries. */
export function ownerOf({ metadata: { labels = {} } }: LiveObject): string | undefined {
  const [label = ""] = Object.keys(ownerLabels({ name: "", namespace: "" }));
  return labels[label];
}
