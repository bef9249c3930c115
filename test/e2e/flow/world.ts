import { findCondition } from "../../../lib/api/condition.ts";
import { declaredOciRepository } from "../../../lib/api/kinds/oci-repository.ts";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import { usualRules } from "../../../lib/apply/apply-rules.ts";
import { celModule, wasmCel } from "../../../lib/cel/wasm-cel.ts";
import { type Digest, digestOf } from "../../../lib/core/digest.ts";
import { Failure } from "../../../lib/core/failure.ts";
import { defaultGates, type FeatureGates } from "../../../lib/core/feature-gates.ts";
import { asHome, asTarget } from "../../../lib/core/home-and-target.ts";
import {
  canonicalJson,
  formatJson,
  isJsonObject,
  type Json,
  type JsonObject,
  toJsonObject,
} from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster, WriteOptions } from "../../../lib/core/ports/cluster.ts";
import type { HistoryRecord } from "../../../lib/core/ports/history.ts";
import { HttpError } from "../../../lib/core/ports/http.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import type { LogFields } from "../../../lib/core/ports/log.ts";
import type { RemoteClusters } from "../../../lib/core/ports/remote-clusters.ts";
import type { Subscriptions } from "../../../lib/core/ports/subscriptions.ts";
import type { Flow, FlowResult, Run } from "../../../lib/core/run.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { WorkKey } from "../../../lib/core/work-key.ts";
import { defaultTiming, type RunTiming } from "../../../lib/flows/interval.ts";
import { kinds } from "../../../lib/flows/kinds.ts";
import type { KustomizationDeps } from "../../../lib/flows/kustomization/context.ts";
import { kustomizationFlow } from "../../../lib/flows/kustomization/kustomization-flow.ts";
import { openRemoteTarget } from "../../../lib/flows/kustomization/remote-target.ts";
import { accountUser } from "../../../lib/flows/kustomization/service-account.ts";
import { reportOutage, retryOutages, stateErrorsAsOutages } from "../../../lib/flows/outages.ts";
import { sourcesAmong } from "../../../lib/flows/source/read-source.ts";
import { finishBuild } from "../../../lib/manifests/finish-build.ts";
import { goYamlText } from "../../../lib/manifests/go-yaml/emit.ts";
import { carriesSecret } from "../../../lib/manifests/secrets.ts";
import { substituteObjects } from "../../../lib/manifests/substitute/substitute-objects.ts";
import { checkedLease } from "../../doubles/checked-lease.ts";
import { noKeyServices } from "../../doubles/no-key-services.ts";
import { noRemoteClusters } from "../../doubles/no-remote-clusters.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { artifactOf, type Files } from "../../unit/manifests/build-files.ts";
import { leaks, toldByObjects, withCanary } from "../canary.ts";
import { type Fault, faultyPort } from "./faulty-port.ts";
import { fileArtifacts } from "./file-artifacts.ts";
import { memoryState } from "./memory-state.ts";
import { type SkippingClock, skippingClock } from "./skipping-clock.ts";

interface Published {
  /** The annotations of the artifact, beside those of the one before; null takes one away. */
  readonly metadata?: Readonly<Record<string, string | null>>;
  /** The namespace of the source, which is created if it is missing: that of the world by default. */
  readonly within?: string;
  /** The name of the source, which is created if it is not `repo`. */
  readonly source?: string;
  /** What each folder of the artifact holds, for Kustomizations that name one as their path: any other does not build. */
  readonly folders?: Readonly<Record<string, readonly Manifest[]>>;
}

/**
 * A namespace of a cluster with one source in it, and a Kustomization flow over state in memory: the cluster is real (the
 * embedded one or a control plane), the artifact is whatever manifests a test names.
 */
export interface World {
  readonly namespace: string;
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
  /** Names what the next artifact holds, with the canary in its Secrets; the source shows it at once. Answers its revision. */
  publish(tag: string, manifests: readonly Manifest[], more?: Published): Promise<string>;
  /** The same for an artifact of files, which the real build builds. The canary is in them already, where it should be. */
  publishFiles(tag: string, files: Files): Promise<string>;
  /** The same for an archive (tar.gz) that no source of ours would pack. */
  publishArchive(tag: string, archive: Uint8Array): Promise<string>;
  /** Applies a Kustomization named `name` with this spec over the usual one. */
  kustomization(name: string, spec?: Readonly<Record<string, Json | undefined>>): Promise<void>;
  /** Merges this into a Kustomization. */
  patch(name: string, body: JsonObject, how: WriteOptions): Promise<void>;
  /** Deletes a Kustomization. */
  remove(name: string): Promise<void>;
  /** One run of its flow; the memo of the last is handed on. */
  run(name: string): Promise<FlowResult>;
  /** The same for a run that nothing has asked for: it was due. */
  runDue(name: string): Promise<FlowResult>;
  /** Runs of its flow as an installation has them, each when it is due, for as long as this. */
  outlast(name: string, ms: number): Promise<FlowResult>;
  get(kind: string, name: string, apiVersion?: string): Promise<LiveObject | undefined>;
  /** Status of a Kustomization; empty if it has none. */
  status(name: string): Promise<JsonObject>;
  /** Ready condition of a Kustomization as `status reason: message`. */
  ready(name: string): Promise<string>;
  events(name: string): Promise<readonly string[]>;
  inventory(name: string): Promise<readonly InventoryEntry[]>;
  /** Loses all that is kept beside the cluster: inventories, claims, subscriptions, what runs remember. */
  loseState(): void;
  /** Puts these in place of its inventory, as a state table does that is restored from an older backup. */
  restoreInventory(name: string, entries: readonly InventoryEntry[], savedUnder?: number): Promise<void>;
  readonly requested: string[];
  /** What was logged at level info, in order. */
  readonly logged: readonly LogFields[];
  /** What the artifacts hold, by digest: one that is taken out is gone from the store. */
  readonly stored: Map<string, readonly Manifest[]>;
  /** What servers of artifacts answer, by URL: the file, a status or no answer; 404 for others. */
  readonly served: Map<string, Uint8Array | number | HttpError>;
  /** What a Kustomization listens to. */
  subscriptionsOf(name: string): readonly string[];
  /** Who listens to a topic. */
  readonly subscriptions: Pick<Subscriptions, "subscribers">;
  /** The ends of its attempts, in order. */
  readonly remembered: readonly HistoryRecord[];
  /** What was measured, in order. */
  readonly measured: ReturnType<typeof recordedMetrics>["recorded"];
  readonly clock: SkippingClock;
  /** Where its runs have shown the canary: statuses, events, logs, state and metrics. */
  leaks(): Promise<readonly string[]>;
  /** Called before and after every port call and before a build; throw to make it fail. Port calls wait for it. */
  fault: Fault;
  /** The installation's setting, for the runs from now on. */
  noCrossNamespaceRefs: boolean;
  /** The same of what a failed health check says. */
  explainHealthFailures: boolean;
  /** The same of the account that a Kustomization without one applies as. */
  defaultServiceAccount: string;
  /** The same of the account that enters the cluster of a ConfigMap without one. */
  defaultKubeconfigAccount: string;
  /** Where keys of encrypted manifests come from, beside Secrets. */
  sopsKeys: KustomizationDeps["sopsKeys"];
  /** The same of the feature gates. */
  gates: FeatureGates;
  /** The same of when runs without an event are. */
  timing: RunTiming;
  /** The same of how objects are applied. */
  applyRules: KustomizationDeps["applyRules"];
  /** The installation's setting, for the runs from now on. */
  sopsIgnoreMac: boolean;
  /** The same of links in artifacts of files. */
  skipLinks: boolean;
  /** The clusters that Kustomizations name. */
  remoteClusters: RemoteClusters;
  /** Where objects are applied; undefined for the cluster that the Kustomizations live in. */
  target: Cluster | undefined;
}

/** Of all worlds of a process. It starts with the first expression. */
const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });

/** What a run has of the world as it is then. */
type OfRun =
  | "home"
  | "remoteTargetOf"
  | "targetOf"
  | "noCrossNamespaceRefs"
  | "explainHealthFailures"
  | "defaultServiceAccount"
  | "gates"
  | "sopsIgnoreMac"
  | "sopsKeys"
  | "applyRules"
  | "timing";

/** Makes the flow of one run, whose writes both clusters take only under its lease. */
type MakeFlow = (home: Cluster, target: Cluster, checked: (cluster: Cluster) => Cluster) => Flow;

/** @param as the cluster with the rights of another user, for stories of service accounts */
export async function world(
  cluster: Cluster,
  namespace: string,
  as: (user: string) => Cluster = () => {
    throw new Error("this world has no other users");
  },
): Promise<World> {
  const { signal } = new AbortController();
  const published = new Map<string, readonly Manifest[]>();
  const served: World["served"] = new Map();
  const foldersOf = new Map<string, NonNullable<Published["folders"]>>();
  const memos = new Map<string, JsonObject>();
  const namespaces = new Set<string>();
  const guessable = new Set<string>();
  const clock = skippingClock();
  const beginNamespace = async (name: string): Promise<void> => {
    const manager = "test";
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, { manager }, signal);
    namespaces.add(name);
    await createSource("repo", name);
  };
  const createSource = async (name: string, within: string): Promise<void> => {
    const metadata = { name, namespace: within };
    const spec = { interval: "1h", url: "oci://127.0.0.1:1/repo" };
    const source = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec };
    await cluster.apply(source, { manager: "test", force: true }, signal);
  };
  await beginNamespace(namespace);
  const key = (name: string): WorkKey => ({
    cluster: "test",
    group: "kustomize.toolkit.fluxcd.io",
    kind: "Kustomization",
    namespace,
    name,
  });
  const fault: Fault = (call) => self.fault(call);
  const state = memoryState(published, clock, fault);
  const metrics = recordedMetrics();
  const log = recordedLog();
  const artifacts = fileArtifacts(log);
  const memory: Omit<KustomizationDeps, OfRun> = {
    clock,
    log,
    metrics,
    installationKey: new Secret("test"),
    concurrency: 4,
    sources: sourcesAmong([declaredOciRepository]),
    http: {
      async send({ url }) {
        const found = served.get(url) ?? 404;
        if (found instanceof HttpError) throw found;
        const [status, body] = typeof found === "number" ? [found, new Uint8Array()] : [200, found];
        return { url, status, headers: {}, body };
      },
    },
    jitter: () => 0.5,
    cel,
    ...state.ports,
    build: async (input, signal) => {
      const { artifact: digest, archive, spec, owner, postBuild } = input;
      await fault("build");
      if ((await archive()) === undefined) return undefined;
      const ofFiles = artifacts.build(input, self.skipLinks, signal);
      if (ofFiles !== undefined) return ofFiles;
      const folder = spec.path === undefined ? published.get(digest) : foldersOf.get(digest)?.[spec.path];
      if (folder === undefined) throw new Failure("BuildFailed", `kustomization path not found: ${spec.path}`);
      const objects = folder.map(({ metadata, ...rest }) => {
        const placed = spec.targetNamespace === undefined ? metadata : { namespace: spec.targetNamespace, ...metadata };
        return toJsonObject({ ...rest, metadata: placed });
      });
      const output = { objects, text: objects.map((object) => goYamlText(object)).join("---\n") };
      const substituted =
        postBuild === undefined
          ? output
          : await substituteObjects(output, postBuild, { files: new Map(), folder: "" }, signal);
      const manifests = finishBuild(substituted.objects, owner, spec.commonMetadata);
      const { secrets = [] } = postBuild ?? {};
      for (const manifest of manifests) if (manifest.kind === "Secret") guessable.add(canonicalJson(manifest));
      return {
        manifests,
        digest: digestOf(canonicalJson(folder)),
        carriesSecret: secrets.length > 0 || carriesSecret(manifests, { files: new Map() }, spec),
        secrets,
      };
    },
  };
  const unsure = faultyPort("cluster", cluster, fault);
  /** The flow as one run has it, whose writes the cluster takes only under its lease. */
  const flowOf = (with_: Omit<KustomizationDeps, OfRun>, ...[reached, target, checked]: Parameters<MakeFlow>): Flow =>
    kustomizationFlow({
      ...with_,
      home: asHome(reached),
      targetOf: async (live) => {
        const user = accountUser(live, self.defaultServiceAccount);
        return asTarget(user === undefined ? target : faultyPort("cluster", as(user), fault));
      },
      remoteTargetOf: (live, place, stop) => {
        const gated = (remote: Cluster) => asTarget(checked(faultyPort("cluster", remote, fault)));
        const { sopsKeys, defaultKubeconfigAccount, defaultServiceAccount, gates, remoteClusters } = self;
        const accounts = { accountTokens: sopsKeys.accountTokens, defaultKubeconfigAccount, gates };
        return openRemoteTarget(live, place, { ...accounts, remoteClusters, gated, defaultServiceAccount }, stop);
      },
      noCrossNamespaceRefs: self.noCrossNamespaceRefs,
      explainHealthFailures: self.explainHealthFailures,
      defaultServiceAccount: self.defaultServiceAccount,
      sopsKeys: self.sopsKeys,
      gates: self.gates,
      sopsIgnoreMac: self.sopsIgnoreMac,
      timing: self.timing,
      applyRules: self.applyRules,
    });
  const once: MakeFlow = (...clusters) => flowOf(memory, ...clusters);
  const patient: MakeFlow = (reached, ...others) =>
    retryOutages(flowOf({ ...memory, ...stateErrorsAsOutages({ ...state.ports, ...memory }) }, reached, ...others), {
      ...{ clock, log, timing: self.timing },
      report: (run, failure, wasReported) =>
        reportOutage(run, failure, wasReported, { home: asHome(reached), clock, kinds }),
    });
  const get = (kind: string, name: string, apiVersion = "v1") => {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return cluster.get({ group: group ?? "", version: version ?? "", kind, namespace, name }, signal);
  };
  const kustomize = "kustomize.toolkit.fluxcd.io/v1";
  const runOf = async (flow: MakeFlow, name: string, isRequested = true): Promise<FlowResult> => {
    let lost: { readonly error: unknown } | undefined;
    const lease = checkedLease(() => {
      if (lost !== undefined) throw lost.error;
      // Not awaited: an error that a fault throws later counts from the next call on, like a lease that is lost meanwhile.
      self.fault("assertLease")?.catch((error: unknown) => {
        lost = { error };
      });
    });
    const fence = await state.take(key(name));
    const run: Run = {
      key: key(name),
      signal,
      fence,
      assertLease: lease.assertLease,
      carried: memos.get(name),
      isRequested,
      superseded: async () => false,
    };
    const reached = lease.checked(unsure);
    const target = self.target === undefined ? reached : lease.checked(self.target);
    const result = await flow(reached, target, (other) => lease.checked(other))(run);
    await state.drop(fence);
    memos.set(name, result.carried ?? {});
    return result;
  };
  const inventoryOwner = async (name: string) => {
    const uid = (await get("Kustomization", name, kustomize))?.metadata.uid ?? "";
    return { uid, clusterUid: await (self.target ?? cluster).uid(signal) };
  };
  /** Shows an artifact in the status of its source. Answers its revision. */
  const show = async (
    tag: string,
    digest: Digest,
    {
      metadata,
      within,
      source,
    }: Pick<Required<Published>, "source" | "within"> & { readonly metadata?: Published["metadata"] | undefined },
  ): Promise<string> => {
    const revision = `${tag}@${digest}`;
    const artifact = {
      digest,
      revision,
      path: "p",
      url: "http://127.0.0.1/p",
      lastUpdateTime: "2026-01-01T00:00:00Z",
      metadata: { ...metadata },
    };
    const group = "source.toolkit.fluxcd.io";
    const ref = { group, version: "v1", kind: "OCIRepository", namespace: within, name: source };
    const body = { status: { artifact } };
    const { metadata: live } = await cluster.patch(
      ref,
      { type: "merge", body },
      { manager: "test", subresource: "status" },
      signal,
    );
    await state.record({ ...ref, cluster: "test" }, live.uid, digest);
    return revision;
  };
  const self: World = {
    namespace,
    cluster,
    signal,
    requested: state.requested,
    logged: log.infos,
    stored: published,
    served,
    subscriptions: state.ports.subscriptions,
    subscriptionsOf: (name) => state.subscriptionsOf(key(name)),
    measured: metrics.recorded,
    remembered: state.remembered,
    clock,
    fault: () => {},
    noCrossNamespaceRefs: false,
    explainHealthFailures: true,
    sopsKeys: noKeyServices,
    defaultServiceAccount: "",
    defaultKubeconfigAccount: "",
    gates: defaultGates,
    timing: defaultTiming,
    applyRules: usualRules,
    remoteClusters: noRemoteClusters,
    target: undefined,
    sopsIgnoreMac: false,
    skipLinks: false,
    publish: async (tag, plain, { metadata, within = namespace, source = "repo", folders: plainFolders } = {}) => {
      const manifests = plain.map(withCanary);
      const folders =
        plainFolders &&
        Object.fromEntries(Object.entries(plainFolders).map(([path, held]) => [path, held.map(withCanary)]));
      if (within !== namespace) await beginNamespace(within);
      if (source !== "repo") await createSource(source, within);
      const digest: Digest = digestOf(formatJson([tag, manifests, folders]));
      published.set(digest, manifests);
      if (folders !== undefined) foldersOf.set(digest, folders);
      return show(tag, digest, { metadata, within, source });
    },
    publishFiles: async (tag, files) => self.publishArchive(tag, await artifactOf(files)),
    publishArchive: (tag, archive) => {
      const digest = artifacts.add(archive);
      published.set(digest, []);
      return show(tag, digest, { within: namespace, source: "repo" });
    },
    kustomization: async (name, spec = {}) => {
      const usual = {
        interval: "10m",
        prune: true,
        targetNamespace: namespace,
        sourceRef: { kind: "OCIRepository", name: "repo" },
      };
      await cluster.apply(
        { apiVersion: kustomize, kind: "Kustomization", metadata: { name, namespace }, spec: { ...usual, ...spec } },
        { manager: "test", force: true },
        signal,
      );
    },
    patch: async (name, body, how) => {
      await cluster.patch({ ...key(name), version: "v1" }, { type: "merge", body }, how, signal);
    },
    remove: async (name) => {
      await cluster.delete({ ...key(name), version: "v1" }, { propagation: "Background" }, signal);
    },
    run: (name) => runOf(once, name),
    runDue: (name) => runOf(once, name, false),
    outlast: async (name, ms) => {
      const until = clock.now() + ms;
      for (;;) {
        const result = await runOf(patient, name);
        clock.advance(result.dueInMs ?? ms);
        if (clock.now() >= until) return result;
      }
    },
    get,
    status: async (name) => {
      const status: unknown = (await get("Kustomization", name, kustomize))?.["status"];
      return isJsonObject(status) ? status : {};
    },
    ready: async (name) => {
      const live = await get("Kustomization", name, kustomize);
      const ready = live && findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
      return ready === undefined ? "none" : `${ready.status} ${ready.reason}: ${ready.message}`;
    },
    events: async (name) => {
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      return found
        .filter(({ involvedObject }) => isJsonObject(involvedObject) && involvedObject["name"] === name)
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${String(event["type"])} ${String(event["reason"])}: ${String(event["message"])}`);
    },
    leaks: async () => {
      const kinds = [
        { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" },
        { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" },
        { group: "", version: "v1", kind: "Event" },
      ];
      const queries = [...namespaces].flatMap((within) => kinds.map((kind) => ({ ...kind, namespace: within })));
      const objects = await Promise.all(queries.map((query) => cluster.list(query, signal)));
      const told = [
        ...toldByObjects(objects.flat()),
        { where: "the log", text: JSON.stringify(log.lines) },
        { where: "the state", text: state.text() },
        { where: "the memos", text: JSON.stringify([...memos]) },
        { where: "the metrics", text: JSON.stringify(metrics.recorded) },
      ];
      return leaks(told, [...guessable]);
    },
    inventory: async (name) => {
      const fence = await state.take(key(name));
      const entries = await state.inventories.load(await inventoryOwner(name), fence, signal);
      await state.drop(fence);
      return entries ?? [];
    },
    loseState: () => {
      state.lose();
      memos.clear();
    },
    restoreInventory: async (name, entries, generation) => {
      const fence = await state.take(key(name));
      const owner = { ...(await inventoryOwner(name)), ...(generation === undefined ? {} : { generation }) };
      await state.inventories.save(owner, entries, fence, signal);
      await state.drop(fence);
    },
  };
  return self;
}
