import { ArtifactGeneratorStatus } from "../../../../lib/api/artifact-generator.ts";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import { type Artifact, SourceStatus } from "../../../../lib/api/source.ts";
import { type Digest, digestOf } from "../../../../lib/core/digest.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import type { Cluster } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { artifactGeneratorFlow } from "../../../../lib/flows/artifact-generator/artifact-generator-flow.ts";
import type { ArtifactGeneratorDeps } from "../../../../lib/flows/artifact-generator/generator-context.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";
import { sourcesAmong } from "../../../../lib/flows/source/read-source.ts";
import { defaultArchiveLimits, unpack } from "../../../../lib/sources/archive/unpack.ts";
import { sqliteArtifactRecords } from "../../../../local/state/artifact-records.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { leased } from "../../../contract/state-back-end.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { artifactOf, type Files } from "../../manifests/build-files.ts";

const { signal } = new AbortController();
const sourceApi = { group: "source.toolkit.fluxcd.io", version: "v1" };
const generatorApi = { group: "source.extensions.fluxcd.io", version: "v1beta1", kind: "ArtifactGenerator" };

/** The process ends here. */
export class Killed extends TypeError {}

/** A namespace of a cluster, the state of an installation in memory, and the flow of ArtifactGenerators on them. */
export function generatorWorld(cluster: Cluster, namespace: string) {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const subscriptions = sqliteSubscriptions(database);
  const records = sqliteArtifactRecords(database);
  const stored = new Map<string, Uint8Array>();
  const served = new Map<string, Uint8Array>();
  const requested: string[] = [];
  const log = recordedLog();
  const state = {
    now: Date.UTC(2026, 10, 28, 12),
    carried: undefined as JsonObject | undefined,
    isRequested: true,
    noCrossNamespaceRefs: false,
    /** Writes that are made before the process ends. */
    writesLeft: Number.POSITIVE_INFINITY,
  };
  const writes: string[] = [];
  const write = (what: string): void => {
    if (state.writesLeft-- <= 0) throw new Killed(what);
    writes.push(what);
  };
  const killable = <Port extends object>(name: string, port: Port, calls: readonly (keyof Port & string)[]): Port =>
    new Proxy(port, {
      get(target, key: string) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== "function" || !calls.some((call) => call === key)) return value;
        return async (...given: readonly unknown[]) => {
          write(`${name}.${key}`);
          return Reflect.apply(value, target, given) as unknown;
        };
      },
    });
  const keyOf = (kind: string, name: string, within = namespace): WorkKey => ({
    ...{ cluster: "here", namespace: within, name, kind },
    group: kind === generatorApi.kind ? generatorApi.group : sourceApi.group,
  });
  const refOf = (kind: string, name: string, within = namespace) => ({
    ...(kind === generatorApi.kind ? generatorApi : { ...sourceApi, kind }),
    ...{ namespace: within, name },
  });
  const home = killable("cluster", { ...cluster }, ["apply", "patch", "delete"]);
  const clock = { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined };
  const deps = (): ArtifactGeneratorDeps => ({
    home: asHome(home),
    clock,
    log,
    metrics: recordedMetrics(),
    subscriptions: killable("subscriptions", subscriptions, ["subscribe"]),
    requests: {
      async request(key) {
        write("requests.request");
        requested.push(`${key.kind}/${key.name}`);
      },
    },
    artifacts: {
      async put(digest: Digest, bytes: Uint8Array) {
        write("artifacts.put");
        if (digestOf(bytes) !== digest) throw new Error("not its digest");
        stored.set(digest, bytes);
      },
      get: async (digest: Digest) => stored.get(digest),
      has: async (digest: Digest) => stored.has(digest),
    },
    records: killable("records", records, ["record", "retain"]),
    jitter: () => 0.5,
    timing: defaultTiming,
    artifactUrl: (path) => `http://sluice.test/${path}`,
    http: {
      async send({ url }) {
        const body = served.get(url);
        return { url, status: body === undefined ? 404 : 200, headers: {}, body: body ?? new Uint8Array() };
      },
    },
    sources: sourcesAmong(declaredKinds),
    noCrossNamespaceRefs: state.noCrossNamespaceRefs,
  });
  const apply = async (kind: string, name: string, spec: JsonObject, within = namespace): Promise<LiveObject> => {
    const { group, version } = refOf(kind, name);
    const manifest = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace: within }, spec };
    return (await cluster.apply(manifest, { manager: "test", force: true }, signal)).object;
  };
  const self = {
    cluster,
    namespace,
    state,
    writes,
    stored,
    served,
    requested,
    log,
    records,
    keyOf,
    apply,
    get: (kind: string, name: string) => cluster.get(refOf(kind, name), signal),
    async remove(kind: string, name: string): Promise<void> {
      await cluster.delete(refOf(kind, name), { propagation: "Background" }, signal);
    },
    async patchStatus(kind: string, name: string, status: JsonObject): Promise<void> {
      const options = { manager: "test", subresource: "status" };
      await cluster.patch(refOf(kind, name), { type: "merge", body: { status } }, options, signal);
    },
    async annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
      const body = { metadata: { annotations } };
      await cluster.patch(refOf(generatorApi.kind, name), { type: "merge", body }, { manager: "test" }, signal);
    },
    /** A source that has stored these files, as its own flow says it. */
    async source(
      name: string,
      files: Files,
      { revision = "v1", within = namespace, metadata = {} }: SourceOptions = {},
    ): Promise<void> {
      const live = await apply("OCIRepository", name, { interval: "1h", url: `oci://registry.test/${name}` }, within);
      const bytes = await artifactOf(files);
      const digest = digestOf(bytes);
      stored.set(digest, bytes);
      const key = keyOf("OCIRepository", name, within);
      await records.record(key, live.metadata.uid, digest, await leased({ items }, key), signal);
      const artifact = {
        ...{ digest, revision, path: `${name}.tar.gz`, url: `http://sluice.test/${name}/${revision}` },
        ...{ lastUpdateTime: "2026-11-28T12:00:00Z", metadata },
      };
      await cluster.patch(
        refOf("OCIRepository", name, within),
        { type: "merge", body: { status: { artifact } } },
        { manager: "test", subresource: "status" },
        signal,
      );
    },
    generator: (spec: JsonObject, name = "gen") => apply(generatorApi.kind, name, spec),
    async status(name = "gen"): Promise<ArtifactGeneratorStatus> {
      const live = await self.get(generatorApi.kind, name);
      return ArtifactGeneratorStatus.parse(live?.["status"] ?? {});
    },
    /** `Ready=True Succeeded: text` and the like. */
    async conditions(name = "gen"): Promise<readonly string[]> {
      const { conditions = [] } = await self.status(name);
      return conditions.map(({ message, reason, status, type }) => `${type}=${status} ${reason}: ${message}`);
    },
    async artifact(name: string): Promise<Artifact | undefined> {
      const live = await self.get("ExternalArtifact", name);
      return SourceStatus.parse(live?.["status"] ?? {}).artifact;
    },
    /** The files of what an ExternalArtifact names. */
    async filesOf(name: string): Promise<Readonly<Record<string, string>> | undefined> {
      const bytes = stored.get((await self.artifact(name))?.digest ?? "");
      if (bytes === undefined) return undefined;
      const { entries } = await unpack(bytes, defaultArchiveLimits, signal);
      return Object.fromEntries(
        entries.flatMap((entry) =>
          entry.type === "file" ? [[entry.path, Buffer.from(entry.bytes).toString()] as const] : [],
        ),
      );
    },
    async externalArtifacts(): Promise<readonly string[]> {
      const found = await cluster.list({ ...sourceApi, kind: "ExternalArtifact", namespace }, signal);
      return found.map(({ metadata }) => metadata.name).toSorted();
    },
    async events(name = "gen"): Promise<readonly string[]> {
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      return found
        .filter((event) => JSON.stringify(event["involvedObject"]).includes(`"name":"${name}"`))
        .map((event) => `${String(event["type"])} ${String(event["reason"])}: ${String(event["message"])}`);
    },
    subscriptionsOf: (name = "gen"): readonly string[] =>
      database.connection
        .prepare("SELECT what FROM edges WHERE key = ?")
        .all(formatWorkKey(keyOf(generatorApi.kind, name)))
        .map(({ what }) => String(what)),
    async subscribe(consumer: WorkKey, topic: string): Promise<void> {
      await subscriptions.subscribe([topic], await leased({ items }, consumer), signal);
    },
    /** One run of the flow under a lease of its own. */
    async run(name = "gen"): Promise<FlowResult> {
      const key = keyOf(generatorApi.kind, name);
      const fence = await leased({ items }, key);
      const lease = checkedLease(() => undefined);
      const now = deps();
      const result = await artifactGeneratorFlow({ ...now, home: lease.checked(now.home) })({
        key,
        fence,
        signal: untilDeadline(),
        assertLease: lease.assertLease,
        carried: state.carried,
        isRequested: state.isRequested,
        superseded: async () => false,
      });
      state.carried = result.carried;
      return result;
    },
    close: () => database.close(),
  };
  return self;
}

interface SourceOptions {
  readonly revision?: string;
  readonly within?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}
