import { findCondition } from "../../../lib/api/condition.ts";
import { HelmReleaseStatus } from "../../../lib/api/helm-release-status.ts";
import { helmGroup, sourceGroup } from "../../../lib/api/names.ts";
import type { Cel } from "../../../lib/cel/cel.ts";
import { digestOf } from "../../../lib/core/digest.ts";
import { defaultGates, type FeatureGates } from "../../../lib/core/feature-gates.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { parseApiVersion } from "../../../lib/core/object-ref.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { HelmEngine } from "../../../lib/core/ports/helm-engine.ts";
import { asHome, asTarget } from "../../../lib/core/ports/home-and-target.ts";
import type { FlowResult } from "../../../lib/core/ports/run.ts";
import { Secret } from "../../../lib/core/secret.ts";
import type { HelmReleaseDeps } from "../../../lib/flows/helm-release/attempt/context.ts";
import { helmReleaseFlow } from "../../../lib/flows/helm-release/helm-release-flow.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import { sourcesAmong } from "../../../lib/flows/source/read-source.ts";
import { noCel } from "../../doubles/no-cel.ts";
import { partOf } from "../../doubles/part-of.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type Files, packed } from "../../unit/sources/helm/charts.ts";
import { type Fault, faultyPort } from "../flow/faulty-port.ts";
import { memoryState } from "../flow/memory-state.ts";
import { type SkippingClock, skippingClock } from "../flow/skipping-clock.ts";

/** A HelmRelease `app` in a namespace of its own, whose flow runs when a test says so. Tests also stand in for the flows of sources. */
export interface FlowScene {
  readonly namespace: string;
  readonly clock: SkippingClock;
  fault: Fault;
  /** Writes the HelmRelease, by default with an OCIRepository `app` as its chart. */
  release(spec: JsonObject, annotations?: Readonly<Record<string, string>>): Promise<void>;
  /** Stores a chart as the artifact of this source, as its own flow would. The source is created if it is not there. */
  publish(chart: Chart, source?: SourceName): Promise<Published>;
  /** One run, with what the last one has carried. */
  run(): Promise<FlowResult>;
  /** The same, but nothing has asked for the run: it was only due. */
  runDue(): Promise<FlowResult>;
  live(): Promise<LiveObject>;
  status(): Promise<HelmReleaseStatus>;
  /** `STATUS REASON: MESSAGE` of a condition; undefined where there is none of this type. */
  condition(type: string): Promise<string | undefined>;
  /** `TYPE REASON: MESSAGE` of the events of the HelmRelease, in order. */
  told(): Promise<readonly string[]>;
  /** `v1 deployed` for each release Secret, in order. */
  revisions(release?: string): Promise<readonly string[]>;
  get(apiVersion: string, kind: string, name: string): Promise<LiveObject | undefined>;
  apply(manifest: Manifest): Promise<LiveObject>;
  /** A merge patch by another client. */
  patch(apiVersion: string, kind: string, name: string, body: JsonObject): Promise<void>;
  /** What a Job has come to. */
  settle(job: string, condition: "Complete" | "Failed"): Promise<void>;
  /** What the HelmRelease is subscribed to. */
  subscriptions(): readonly string[];
  /** `KIND/NAME` of the objects whose runs were requested, in order. */
  readonly requested: readonly string[];
}

export interface Chart {
  readonly name?: string;
  readonly version: string;
  /** By name without `templates/` and `.yaml`. */
  readonly templates: Files;
  readonly files?: Files;
}

interface SourceName {
  readonly kind: "HelmChart" | "OCIRepository";
  readonly name: string;
  readonly namespace?: string;
}

interface Published {
  /** Of the artifact. */
  readonly digest: string;
  readonly revision: string;
}

export interface FlowSceneOptions {
  readonly cel?: Cel;
  readonly gates?: Partial<FeatureGates>;
  readonly noCrossNamespaceRefs?: boolean;
}

const { signal } = new AbortController();
const own: SourceName = { kind: "OCIRepository", name: "app" };

/** @param cluster with Sluice's definitions, without controllers */
export async function flowScene(
  cluster: Cluster,
  namespace: string,
  helm: HelmEngine,
  { cel = noCel, gates = {}, noCrossNamespaceRefs = false }: FlowSceneOptions = {},
): Promise<FlowScene> {
  const clock = skippingClock();
  const fault: Fault = async (call) => scene.fault(call);
  const state = memoryState(new Map(), clock, fault);
  const artifacts = new Map<string, Uint8Array>();
  const faulty = faultyPort("cluster", cluster, fault);
  const key = { cluster: "test", group: helmGroup, kind: "HelmRelease", namespace, name: "app" };
  const deps = partOf<HelmReleaseDeps>({
    ...{ home: asHome(faulty), clock, log: silentLog, jitter: () => 0.5, helm, cel, concurrency: 4 },
    ...state.ports,
    artifacts: { put: async () => {}, get: async (digest: string) => artifacts.get(digest) },
    ...{ installationKey: new Secret("test"), applyRules: { overrideManagers: [] }, defaultServiceAccount: "" },
    ...{ timing: defaultTiming, sources: sourcesAmong(kinds), reconciled: kinds, noCrossNamespaceRefs },
    gates: { ...defaultGates, ...gates },
    targetOf: async () => asTarget(faulty),
  });
  const flow = helmReleaseFlow(deps);
  let last: FlowResult | undefined;
  const apply = async (manifest: Manifest) => {
    const placed = { ...manifest, metadata: { namespace, ...manifest.metadata } };
    return (await cluster.apply(placed, { manager: "test", force: true }, signal)).object;
  };
  const refTo = (apiVersion: string, kind: string, name: string) => ({
    ...parseApiVersion(apiVersion),
    ...{ kind, namespace, name },
  });
  const run = async (isRequested: boolean) => {
    last = await flow({
      ...{ key, signal, fence: await state.take(key), assertLease: () => {}, carried: last?.carried },
      ...{ isRequested, superseded: async () => false },
    });
    return last;
  };
  const scene: FlowScene = {
    ...{ namespace, clock, apply, requested: state.requested },
    fault: () => {},
    release: async (spec, annotations = {}) => {
      const chartRef = "chart" in spec || "chartRef" in spec ? {} : { chartRef: { kind: own.kind, name: own.name } };
      await apply({
        ...{ apiVersion: `${helmGroup}/v2`, kind: "HelmRelease", metadata: { name: "app", namespace, annotations } },
        spec: { interval: "1h", ...chartRef, ...spec },
      });
    },
    publish: async ({ files = {}, name = "app", templates, version }, source = own) => {
      const place = { kind: source.kind, namespace: source.namespace ?? namespace, name: source.name };
      const ref = { group: sourceGroup, version: "v1", ...place };
      const named: Files = Object.fromEntries(
        Object.entries(templates).map(([file, text]) => [`templates/${file}.yaml`, text]),
      );
      const chart = `apiVersion: v2\nname: ${name}\nversion: ${version}\n`;
      const bytes = await packed({ "Chart.yaml": chart, ...named, ...files });
      const digest = digestOf(bytes);
      artifacts.set(digest, bytes);
      const metadata = { name: place.name, namespace: place.namespace };
      const live =
        (await cluster.get(ref, signal)) ??
        (await apply({
          ...{ apiVersion: `${sourceGroup}/v1`, kind: source.kind, metadata },
          spec:
            source.kind === "HelmChart"
              ? { interval: "1h", chart: name, sourceRef: { kind: "HelmRepository", name: "charts" } }
              : { interval: "1h", url: "oci://registry.test/app" },
        }));
      const revision = source.kind === "HelmChart" ? version : `${version}@${digest}`;
      const lastUpdateTime = new Date(clock.now()).toISOString();
      const artifact = { digest, revision, lastUpdateTime, path: "a.tgz", url: "http://none.test/a.tgz" };
      const { generation = 1 } = live.metadata;
      const body = { status: { observedGeneration: generation, artifact } };
      await cluster.patch(ref, { type: "merge", body }, { manager: "source", subresource: "status" }, signal);
      await state.record({ cluster: "test", group: sourceGroup, ...place }, live.metadata.uid, digest);
      return { digest, revision };
    },
    run: () => run(true),
    runDue: () => run(false),
    live: async () => {
      const live = await cluster.get({ ...key, version: "v2" }, signal);
      if (live === undefined) throw new Error("the HelmRelease is gone");
      return live;
    },
    status: async () => HelmReleaseStatus.parse((await scene.live())["status"] ?? {}),
    condition: async (type) => {
      const found = findCondition((await scene.status()).conditions ?? [], type);
      return found && `${found.status} ${found.reason}: ${found.message}`;
    },
    told: async () => {
      const all = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      return all
        .filter(({ involvedObject }) => isJsonObject(involvedObject) && involvedObject["kind"] === "HelmRelease")
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ message, reason, type }) => `${String(type)} ${String(reason)}: ${String(message)}`);
    },
    revisions: async (release = "app") => {
      const labelSelector = `owner=helm,name=${release}`;
      const all = await cluster.list({ group: "", version: "v1", kind: "Secret", namespace, labelSelector }, signal);
      return all
        .map(({ metadata: { labels = {} } }) => ({ version: Number(labels["version"]), status: labels["status"] }))
        .toSorted((a, b) => a.version - b.version)
        .map(({ status, version }) => `v${version} ${status}`);
    },
    get: (apiVersion, kind, name) => cluster.get(refTo(apiVersion, kind, name), signal),
    patch: async (apiVersion, kind, name, body) => {
      await cluster.patch(refTo(apiVersion, kind, name), { type: "merge", body }, { manager: "other" }, signal);
    },
    settle: async (job, condition) => {
      const body = { status: { conditions: [{ type: condition, status: "True" }] } };
      const options = { manager: "kubelet", subresource: "status" };
      await cluster.patch(refTo("batch/v1", "Job", job), { type: "merge", body }, options, signal);
    },
    subscriptions: () => state.subscriptionsOf(key),
  };
  await cluster.apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { manager: "test", force: true },
    signal,
  );
  return scene;
}
