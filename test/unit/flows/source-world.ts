import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Digest, digestOf } from "../../../lib/core/digest.ts";
import type { Subscription } from "../../../lib/core/follows.ts";
import { isJsonObject, type Json, type JsonObject, toJson } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Fence } from "../../../lib/core/ports/fence.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import type { Http, HttpRequest } from "../../../lib/core/ports/http.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import type { Flow, FlowResult } from "../../../lib/core/ports/run.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import { type OciRepositoryDeps, ociRepositoryFlow } from "../../../lib/flows/oci-repository/oci-repository-flow.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { mediaTypes } from "../../../lib/sources/oci/media-types.ts";
import { pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import type { Push } from "../../../local/registry/serve-manifests.ts";
import { startRegistry } from "../../../local/registry/start-registry.ts";
import { sqliteArtifactRecords } from "../../../local/state/artifact-records.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { leased } from "../../contract/state-back-end.ts";
import { untilDeadline } from "../../deadline.ts";
import { checkedLease } from "../../doubles/checked-lease.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { toldRelations } from "../../doubles/told-relations.ts";

/** One write to the cluster, as the flow asked for it. */
export interface Write {
  readonly verb: "create" | "patch";
  readonly manager: string;
  readonly subresource: string | undefined;
  readonly body: unknown;
}

export type World = Awaited<ReturnType<typeof sourceWorld>>;

/** A cluster of plain objects, a real embedded registry, and the flow of a source (by default OCIRepository) between them. */
export async function sourceWorld(logins?: OciRepositoryDeps["logins"], kind = "OCIRepository") {
  const key = (name: string): WorkKey => ({
    cluster: "here",
    group: "source.toolkit.fluxcd.io",
    kind,
    namespace: "apps",
    name,
  });
  /** The topic of the source `app`, to which the Kustomization `web` is subscribed. */
  const subscribedTo = `src#here/source.toolkit.fluxcd.io/${kind}/apps/app`;
  const folder = await mkdtemp(join(tmpdir(), "sluice-source-"));
  const pushes: Push[] = [];
  const registry = await startRegistry({
    folder: join(folder, "registry"),
    port: 0,
    log: silentLog,
    onPush: (push) => void pushes.push(push),
  });
  const http = httpClient({ network: homeNetwork });
  const objects = new Map<string, LiveObject>();
  const writes: Write[] = [];
  const events: LiveObject[] = [];
  const stored = new Map<string, Uint8Array>();
  const recorded = new Set<string>();
  const listens = new Map<string, readonly Subscription[]>();
  const requested: { readonly key: string; readonly why: string }[] = [];
  const sent: HttpRequest[] = [];
  const logged: { readonly message: string; readonly fields: unknown }[] = [];
  const state = {
    now: Date.UTC(2026, 10, 21, 12),
    carried: undefined as JsonObject | undefined,
    host: registry.address,
    refusesStatus: false,
    isRequested: true,
  };

  const clock: Clock = { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined };
  const spying: Http = {
    send(request, signal) {
      sent.push(request);
      return http.send(request, signal);
    },
  };
  const log: Log = { ...silentLog, warn: (message, fields) => void logged.push({ message, fields }) };
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const subscriptions = sqliteSubscriptions(database);
  const records = sqliteArtifactRecords(database);
  const home = asHome(objectCluster(objects, writes, events, () => state.refusesStatus));
  const metrics = recordedMetrics();
  const deps = {
    home,
    clock,
    log,
    metrics,
    http: spying,
    ...(logins === undefined ? {} : { logins }),
    jitter: () => 0.5,
    timing: defaultTiming,
    artifactUrl: (path: string) => `http://127.0.0.1:19790/${path}`,
    artifacts: {
      put: async (digest: Digest, bytes: Uint8Array) => {
        if (digestOf(bytes) !== digest) throw new Error("not its digest");
        stored.set(digest, bytes);
      },
      get: async (digest: Digest) => stored.get(digest),
      has: async (digest: Digest) => stored.has(digest),
    },
    records: {
      ...records,
      record: async (of: WorkKey, uid: string, digest: Digest, fence: Fence, signal: AbortSignal) => {
        await records.record(of, uid, digest, fence, signal);
        recorded.add(`${uid} ${digest}`);
      },
      retain: async (of: WorkKey, uid: string, digests: readonly Digest[], fence: Fence, signal: AbortSignal) => {
        await records.retain(of, uid, digests, fence, signal);
        for (const each of [...recorded])
          if (!digests.some((digest) => each === `${uid} ${digest}`)) recorded.delete(each);
      },
    },
    subscriptions: {
      ...subscriptions,
      subscribe: async (topics: readonly Subscription[], fence: Fence, signal: AbortSignal) => {
        await subscriptions.subscribe(topics, fence, signal);
        listens.set(formatWorkKey(fence.key), topics);
      },
      subscribers: async (what: string) => (what === subscribedTo ? [{ ...key("web"), kind: "Kustomization" }] : []),
    },
    requests: { request: async (of: WorkKey, why: string) => void requested.push({ key: formatWorkKey(of), why }) },
  };

  const told = toldRelations();
  return {
    deps,
    events,
    folder,
    key,
    listens,
    logged,
    measured: metrics.recorded,
    pushes,
    recorded,
    requested,
    sent,
    state,
    stored,
    writes,
    address: registry.address,
    /** What the events of runs have to do with other objects. */
    relations: told.relations,
    /** The reasons of the events that Alerts may send. */
    toldReasons: told.reasons,
    /** Creates or replaces an object as a user would: a new spec is a new generation. */
    apply(manifest: Manifest): void {
      const id = idOf(manifest);
      const was = objects.get(id);
      const generation = (was?.metadata.generation ?? 0) + 1;
      const status = was === undefined ? { observedGeneration: -1 } : was["status"];
      const metadata = { ...was?.metadata, ...manifest.metadata, uid: was?.metadata.uid ?? `uid-of-${id}`, generation };
      objects.set(id, { ...manifest, metadata, status });
    },
    annotate(name: string, annotations: Readonly<Record<string, string>>): void {
      change(objects, `${kind}/apps/${name}`, (live) => ({ ...live, metadata: { ...live.metadata, annotations } }));
    },
    label(name: string, labels: Readonly<Record<string, string>>): void {
      change(objects, `${kind}/apps/${name}`, (live) => ({ ...live, metadata: { ...live.metadata, labels } }));
    },
    delete(name: string): void {
      const deletionTimestamp = "2026-11-21T12:00:00Z";
      change(objects, `${kind}/apps/${name}`, (live) => ({
        ...live,
        metadata: { ...live.metadata, deletionTimestamp },
      }));
    },
    get: (name: string): LiveObject => {
      const found = objects.get(`${kind}/apps/${name}`);
      if (found === undefined) throw new Error(`no ${name}`);
      return found;
    },
    has: (name: string) => objects.has(`${kind}/apps/${name}`),
    async push(tag: string, files: Readonly<Record<string, string>>, repository = "app"): Promise<string> {
      const path = await mkdtemp(join(folder, "content-"));
      for (const [file, text] of Object.entries(files)) {
        await mkdir(dirname(join(path, file)), { recursive: true });
        await writeFile(join(path, file), text);
      }
      const connect = registryClients(http, clock);
      const url = `oci://${registry.address}/${repository}:${tag}`;
      const artifact = { url, path, source: "https://example.test/repo", revision: "main@sha1:0000" };
      const signal = untilDeadline();
      return (await pushArtifact(artifact, ({ host }) => connect({ host, insecure: true }), signal)).digest;
    },
    /** An artifact whose one layer is these bytes, whatever they are; `more` is what its manifest says beside it. */
    async pushLayer(tag: string, layer: Uint8Array, more: JsonObject = {}, repository = "app"): Promise<void> {
      const client = registryClients(http, clock)({ host: registry.address, insecure: true });
      const signal = untilDeadline();
      const config = Buffer.from("{}");
      const blob = (bytes: Uint8Array, mediaType: string) => ({
        mediaType,
        size: bytes.length,
        digest: digestOf(bytes),
      });
      const manifest = {
        schemaVersion: 2,
        mediaType: mediaTypes.manifest,
        config: blob(config, mediaTypes.fluxConfig),
        layers: [blob(layer, mediaTypes.fluxContent)],
        ...more,
      };
      for (const bytes of [layer, config]) await client.pushBlob(repository, bytes, signal);
      await client.pushManifest(repository, tag, mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)), signal);
    },
    /** Whether writes to a status fail, as those of a run that is killed before them. */
    refuseStatus(refuses: boolean): void {
      state.refusesStatus = refuses;
    },
    /** Forgets what any source has stored, as a state that is new. */
    forgetRecords(): void {
      recorded.clear();
      database.connection.exec("DELETE FROM artifact_records");
    },
    /** One run of the flow, under a lease of its own. */
    async run(
      name = "app",
      signal = untilDeadline(),
      flowOf: (of: typeof deps) => Flow = ociRepositoryFlow,
    ): Promise<FlowResult> {
      const workKey = key(name);
      const fence = await leased({ items }, workKey);
      const lease = checkedLease(() => undefined);
      const flow = flowOf({ ...deps, home: lease.checked(deps.home) });
      const result = await flow({
        key: workKey,
        signal,
        fence,
        assertLease: lease.assertLease,
        carried: state.carried,
        isRequested: state.isRequested,
        events: told.events,
        superseded: async () => false,
      });
      state.carried = result.carried;
      return result;
    },
    async close(): Promise<void> {
      http.close();
      database.close();
      await registry.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An OCIRepository of namespace apps. */
export function ociRepository(name: string, spec: JsonObject): Manifest {
  return {
    apiVersion: "source.toolkit.fluxcd.io/v1",
    kind: "OCIRepository",
    metadata: { name, namespace: "apps" },
    spec: { interval: "60m", timeout: "60s", provider: "generic", insecure: true, ...spec },
  };
}

export function objectCluster(
  objects: Map<string, LiveObject>,
  writes: Write[],
  events: LiveObject[],
  refusesStatus: () => boolean,
): Cluster {
  const notHere = async (): Promise<never> => {
    throw new ApiError({ code: 0, reason: "BadRequest", message: "not in this test" });
  };
  return {
    uid: async () => "cluster-uid",
    resource: notHere,
    served: notHere,
    list: notHere,
    listMetadata: notHere,
    apply: notHere,
    delete: notHere,
    // oxlint-disable-next-line require-yield -- a watch of nothing
    async *watch() {
      throw new ApiError({ code: 0, reason: "BadRequest", message: "not in this test" });
    },
    get: async ({ kind, namespace, name }) => objects.get(`${kind}/${namespace}/${name}`),
    async create(manifest, { manager }) {
      const live: LiveObject = { ...manifest, metadata: { ...manifest.metadata, uid: "event" } };
      writes.push({ verb: "create", manager, subresource: undefined, body: manifest });
      events.push(live);
      return live;
    },
    async patch({ kind, namespace, name }, { body }, { manager, subresource }) {
      if (subresource === "status" && refusesStatus()) throw new TypeError("the API server is away");
      const id = `${kind}/${namespace}/${name}`;
      const live = objects.get(id);
      if (live === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: `${id} not found` });
      writes.push({ verb: "patch", manager, subresource, body });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a merge patch of an object is one
      const next = mergePatch(toJson(live), toJson(body)) as unknown as LiveObject;
      const isGone = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0;
      if (isGone) objects.delete(id);
      else objects.set(id, next);
      return next;
    },
  };
}

/** RFC 7386. */
function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, Json> = isJsonObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatch(merged[field] ?? null, value);
  }
  return merged;
}

function change(objects: Map<string, LiveObject>, id: string, by: (live: LiveObject) => LiveObject): void {
  const live = objects.get(id);
  if (live !== undefined) objects.set(id, by(live));
}

function idOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}
