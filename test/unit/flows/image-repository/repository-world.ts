import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ImageRepositoryStatus } from "../../../../lib/api/image-repository.ts";
import { digestOf } from "../../../../lib/core/digest.ts";
import type { JsonObject } from "../../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import type { Clock } from "../../../../lib/core/ports/clock.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import type { Http, HttpRequest } from "../../../../lib/core/ports/http.ts";
import type { Log } from "../../../../lib/core/ports/log.ts";
import type { FlowResult } from "../../../../lib/core/ports/run.ts";
import { sourceTopic } from "../../../../lib/core/topics.ts";
import { formatWorkKey, type WorkKey } from "../../../../lib/core/work-key.ts";
import { imageRepositoryFlow } from "../../../../lib/flows/image-repository/image-repository-flow.ts";
import type { ImageRepositoryDeps } from "../../../../lib/flows/image-repository/repository-context.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { mediaTypes } from "../../../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../../../lib/sources/oci/registry-client.ts";
import { startRegistry } from "../../../../local/registry/start-registry.ts";
import { sqliteArtifactRecords } from "../../../../local/state/artifact-records.ts";
import { sqliteImageTags } from "../../../../local/state/image-tags.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { leased } from "../../../contract/state-back-end.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkedLease } from "../../../doubles/checked-lease.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";
import { silentLog } from "../../../doubles/silent-log.ts";
import { toldRelations } from "../../../doubles/told-relations.ts";
import { objectCluster, type Write } from "../source-world.ts";

export type RepositoryWorld = Awaited<ReturnType<typeof repositoryWorld>>;

const Event = z.object({ type: z.string(), reason: z.string(), message: z.string() });
const id = "ImageRepository/apps/app";
const group = "image.toolkit.fluxcd.io";

/** Plain objects of a cluster, a real registry in this process, and the flow of the ImageRepository `app` between them. */
export async function repositoryWorld(logins?: ImageRepositoryDeps["logins"]) {
  const key: WorkKey = { cluster: "here", group, kind: "ImageRepository", namespace: "apps", name: "app" };
  const policy: WorkKey = { ...key, kind: "ImagePolicy", name: "newest" };
  const folder = await mkdtemp(join(tmpdir(), "sluice-images-"));
  const registry = await startRegistry({
    folder: join(folder, "registry"),
    port: 0,
    log: silentLog,
    onPush: () => undefined,
  });
  const http = httpClient({ network: homeNetwork });
  const objects = new Map<string, LiveObject>();
  const writes: Write[] = [];
  const events: LiveObject[] = [];
  const sent: HttpRequest[] = [];
  const woken: string[] = [];
  const warned: string[] = [];
  const state = {
    now: Date.UTC(2026, 10, 29, 12),
    carried: undefined as JsonObject | undefined,
    isRequested: true,
    refusesStatus: false,
    /** Answers in place of the registry, where it does not answer undefined. */
    answered: (_request: HttpRequest): Awaited<ReturnType<Http["send"]>> | undefined => undefined,
  };
  const clock: Clock = { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined };
  const spying: Http = {
    async send(request, signal) {
      sent.push(request);
      return state.answered(request) ?? http.send(request, signal);
    },
  };
  const log: Log = { ...silentLog, warn: (message) => void warned.push(message) };
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const subscriptions = sqliteSubscriptions(database);
  const imageTags = sqliteImageTags(database);
  const deps: ImageRepositoryDeps = {
    home: asHome(objectCluster(objects, writes, events, () => state.refusesStatus)),
    ...{ clock, log, metrics: recordedMetrics(), http: spying, subscriptions, imageTags },
    ...(logins === undefined ? {} : { logins }),
    jitter: () => 0.5,
    timing: defaultTiming,
    artifacts: { put: async () => undefined, get: async () => undefined, has: async () => false },
    records: sqliteArtifactRecords(database),
    requests: { request: async (of) => void woken.push(`${of.kind}/${of.name}`) },
  };
  await subscriptions.subscribe([sourceTopic(key)], await leased({ items }, policy), untilDeadline());
  // One for all runs, as in an installation: it remembers which hosts speak TLS.
  const told = toldRelations();
  const push = async (tags: readonly string[], repository = "app"): Promise<void> => {
    const client = registryClients(http, clock)({ host: registry.address, insecure: true });
    const signal = untilDeadline();
    const config = Buffer.from("{}");
    await client.pushBlob(repository, config, signal);
    const blob = { mediaType: mediaTypes.fluxConfig, size: config.length, digest: digestOf(config) };
    const manifest = Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.manifest, config: blob, layers: [] }),
    );
    for (const tag of tags) await client.pushManifest(repository, tag, mediaTypes.manifest, manifest, signal);
  };
  const live = (): LiveObject => {
    const found = objects.get(id);
    if (found === undefined) throw new Error("no app");
    return found;
  };
  const status = (): ImageRepositoryStatus => ImageRepositoryStatus.parse(live()["status"]);
  return {
    ...{ address: registry.address, deps, key, push, sent, state, subscriptions, warned, woken, writes, live, status },
    relations: told.relations,
    /** The reasons of the events that Alerts may send. */
    toldReasons: told.reasons,
    has: () => objects.has(id),
    /** Creates or replaces the ImageRepository as a user would: a new spec is a new generation. */
    apply(spec: JsonObject = {}): void {
      const was = objects.get(id);
      const generation = (was?.metadata.generation ?? 0) + 1;
      const metadata = { ...was?.metadata, name: "app", namespace: "apps", uid: "uid-of-app", generation };
      const given = { image: `${registry.address}/app`, interval: "1h", provider: "generic", ...spec };
      objects.set(id, {
        ...{ apiVersion: `${group}/v1`, kind: "ImageRepository", metadata, spec: given },
        status: was === undefined ? { observedGeneration: -1 } : was["status"],
      });
    },
    put(manifest: Manifest): void {
      objects.set(`${manifest.kind}/apps/${manifest.metadata.name}`, {
        ...manifest,
        metadata: { ...manifest.metadata, uid: "uid" },
      });
    },
    ask(requestedAt: string): void {
      const metadata = { ...live().metadata, annotations: { "reconcile.fluxcd.io/requestedAt": requestedAt } };
      objects.set(id, { ...live(), metadata });
    },
    delete(): void {
      objects.set(id, { ...live(), metadata: { ...live().metadata, deletionTimestamp: "2026-11-29T12:00:00Z" } });
    },
    conditions: () =>
      (status().conditions ?? []).map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`),
    /** The events since the last call. */
    events: () =>
      events.splice(0).map((event) => {
        const { type, reason, message } = Event.parse(event);
        return `${type} ${reason}: ${message}`;
      }),
    tags: async () => (await imageTags.get(key, untilDeadline()))?.tags,
    /** Loses what is stored, as a state that is new. */
    loseTags: () => database.connection.exec("DELETE FROM image_tags; DELETE FROM image_tag_pages"),
    subscribers: async (topic: string) => (await subscriptions.subscribers(topic, untilDeadline())).map(formatWorkKey),
    /** One run of the flow, under a lease of its own. By default nothing but time asks for it. */
    async run({ isRequested = false }: { readonly isRequested?: boolean } = {}): Promise<FlowResult> {
      const fence = await leased({ items }, key);
      const lease = checkedLease(() => undefined);
      const flow = imageRepositoryFlow({ ...deps, home: lease.checked(deps.home) });
      const result = await flow({
        ...{ key, fence, isRequested, signal: untilDeadline(), assertLease: lease.assertLease },
        ...{ carried: state.carried, events: told.events, superseded: async () => false },
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
