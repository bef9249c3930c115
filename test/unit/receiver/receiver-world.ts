import { receiveWebhooks } from "../../../functions/receiver.ts";
import { findCondition } from "../../../lib/api/condition.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { ReceiverStatus } from "../../../lib/api/receiver.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject, Manifest } from "../../../lib/core/manifest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../lib/core/ports/home-and-target.ts";
import type { IndexedReceiver } from "../../../lib/core/ports/receiver-index.ts";
import type { FlowResult } from "../../../lib/core/ports/run.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { defaultTiming } from "../../../lib/flows/interval.ts";
import type { ReceiverDeps } from "../../../lib/flows/receiver/receiver-context.ts";
import { receiverFlow } from "../../../lib/flows/receiver/receiver-flow.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { authentications } from "../../../lib/receiver/authenticate.ts";
import { issuedTokens } from "../../../lib/receiver/issued-tokens.ts";
import { secretCache } from "../../../lib/receiver/secret-cache.ts";
import { readSecretValues } from "../../../lib/receiver/secret-values.ts";
import { rememberingUnknown } from "../../../lib/receiver/unknown-paths.ts";
import type { WakeDeps } from "../../../lib/receiver/wake-selected.ts";
import { sqliteReceiverIndex } from "../../../local/state/receiver-index.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { leased } from "../../contract/state-back-end.ts";
import { deadlineMs, untilDeadline } from "../../deadline.ts";
import { checkedLease } from "../../doubles/checked-lease.ts";
import { noCel } from "../../doubles/no-cel.ts";
import { noCluster } from "../../doubles/no-cluster.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { objectCluster, type Write } from "../flows/source-world.ts";

export const token = "q7Zt-58fe21c0b94d";
export const namespace = "retail";

/** What a delivery says beside its path. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly uri?: string;
}

/** To issuers on this machine. Its connections end when they idle. */
const http = httpClient({ network: homeNetwork });

/** A cluster of plain objects with a Secret `token` and the GitRepository-like sources that a test adds, and the flow of Receivers on it. */
export function receiverWorld(change: Partial<ReceiverDeps & Pick<WakeDeps, "requests">> = {}, googleKeysUrl?: string) {
  const objects = new Map<string, LiveObject>();
  const writes: Write[] = [];
  const events: LiveObject[] = [];
  const requested: string[] = [];
  const lists: string[] = [];
  const state = {
    now: Date.UTC(2026, 10, 23, 12),
    carried: undefined as JsonObject | undefined,
    isRequested: true,
    isAway: false,
  };
  const clock: Clock = { now: () => state.now, monotonic: () => state.now, sleep: async () => undefined };
  const log = recordedLog();
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const receivers = sqliteReceiverIndex(database);
  const subscriptions = sqliteSubscriptions(database);
  const cluster: Cluster = {
    ...noCluster,
    ...objectCluster(objects, writes, events, () => false),
    listMetadata: async ({ group, kind, namespace: within }) => {
      lists.push(`${kind} of ${within}`);
      return [...objects.values()].filter(
        (one) => one.apiVersion.startsWith(`${group}/`) && one.kind === kind && one.metadata.namespace === within,
      );
    },
  };
  const home = asHome(cluster);
  const request = async (key: WorkKey): Promise<void> =>
    void requested.push(`${key.kind}/${key.namespace}/${key.name}`);
  const deps: ReceiverDeps & Pick<WakeDeps, "requests"> = {
    home,
    clock,
    log,
    metrics: recordedMetrics(),
    subscriptions,
    requests: { request, hint: request },
    artifacts: { put: fail, get: fail, has: fail },
    records: { record: fail, retain: fail, recorded: fail },
    jitter: () => 0.5,
    timing: defaultTiming,
    cel: noCel,
    receivers,
    reconciled: declaredKinds,
    noCrossNamespaceRefs: false,
    ...change,
  };
  const secretReads: string[] = [];
  const found: string[] = [];
  const others: IndexedReceiver[] = [];
  const secretOf = secretCache(async (secret, stop) => {
    secretReads.push(secret.name);
    if (state.isAway) throw new ApiError({ code: 0, reason: "Unreachable", message: "no answer" });
    return readSecretValues(home, secret, stop);
  }, clock);
  const webhooks = {
    receivers: rememberingUnknown(
      {
        async find(path, signal) {
          found.push(path);
          return [...others, ...(await receivers.find(path, signal))];
        },
      },
      clock,
    ),
    ...{ secretOf, clock, log },
    metrics: recordedMetrics(),
    authentications: {
      ...authentications,
      ...issuedTokens({ cel: deps.cel, clock, http, ...(googleKeysUrl === undefined ? {} : { googleKeysUrl }) }),
    },
    requests: deps.requests,
    cel: deps.cel,
  };
  // No test of this world is about how long a delivery takes.
  const receive = receiveWebhooks(webhooks, {
    authenticMs: deadlineMs,
    firstAuthenticMs: deadlineMs,
    wokenMs: deadlineMs,
  });
  const keyOf = (name: string): WorkKey => ({
    cluster: "here",
    group: "notification.toolkit.fluxcd.io",
    kind: "Receiver",
    namespace,
    name,
  });
  const self = {
    objects,
    writes,
    events,
    requested,
    lists,
    state,
    log,
    deps,
    receivers,
    clock,
    home,
    keyOf,
    /** Creates or replaces an object as a user would: a new spec is a new generation. */
    apply({ metadata, ...manifest }: Manifest): void {
      const id = `${manifest.kind}/${metadata.namespace ?? ""}/${metadata.name}`;
      const was = objects.get(id);
      const generation = (was?.metadata.generation ?? 0) + 1;
      const status = was === undefined ? { observedGeneration: -1 } : was["status"];
      const own = { ...was?.metadata, ...metadata, uid: was?.metadata.uid ?? `uid-of-${id}`, generation };
      objects.set(id, { ...manifest, apiVersion: manifest.apiVersion, kind: manifest.kind, metadata: own, status });
    },
    secret(data: Readonly<Record<string, string>>, name = "token"): void {
      const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
      self.apply({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace },
        data: Object.fromEntries(encoded),
      });
    },
    /** An OCIRepository, or whatever kind of source is named. */
    source(
      name: string,
      labels: Readonly<Record<string, string>> = {},
      within = namespace,
      kind = "OCIRepository",
    ): void {
      const metadata = { name, namespace: within, labels };
      self.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind, metadata, spec: {} });
    },
    receiver(spec: JsonObject, name = "shop-hook"): void {
      const resources = [{ kind: "OCIRepository", name: "shop" }];
      const defaults: JsonObject = { type: "generic", interval: "10m", secretRef: { name: "token" }, resources };
      const metadata = { name, namespace };
      const whole = Object.entries({ ...defaults, ...spec }).filter(([, value]) => value !== null);
      const apiVersion = "notification.toolkit.fluxcd.io/v1";
      self.apply({ apiVersion, kind: "Receiver", metadata, spec: Object.fromEntries(whole) });
    },
    delete(kind: string, name: string): void {
      const id = `${kind}/${namespace}/${name}`;
      const live = objects.get(id);
      if (live === undefined) throw new Error(`no ${id}`);
      if ((live.metadata.finalizers ?? []).length === 0) objects.delete(id);
      else objects.set(id, { ...live, metadata: { ...live.metadata, deletionTimestamp: "2026-11-23T12:00:00Z" } });
    },
    get: (name = "shop-hook"): LiveObject | undefined => objects.get(`Receiver/${namespace}/${name}`),
    status: (name = "shop-hook"): ReceiverStatus => ReceiverStatus.parse(self.get(name)?.["status"] ?? {}),
    /** `Ready=True Succeeded` and the like, in their order. */
    conditions: (name = "shop-hook"): readonly string[] =>
      (self.status(name).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`),
    messageOf: (type: string, name = "shop-hook") => findCondition(self.status(name).conditions ?? [], type)?.message,
    path: (name = "shop-hook"): string => self.status(name).webhookPath ?? "",
    told: () => events.map((event) => [event["type"], event["reason"], event["message"]].join(" ")),
    subscribers: async (topic: string) =>
      (await subscriptions.subscribers(topic, new AbortController().signal)).map(({ name }) => name),
    secretReads,
    /** The paths that were looked up. */
    found,
    /** Another Receiver at every path. */
    alsoFound: (receiver: IndexedReceiver) => void others.push(receiver),
    receive,
    /** The status of the answer to a delivery. */
    async deliver(sent: Sent = {}): Promise<number> {
      const { headers = {}, body = "", uri = self.path() } = sent;
      const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const answer = await receive({
        uri,
        header: (name) => named.get(name.toLowerCase()),
        body: (async function* () {
          yield Buffer.from(body);
        })(),
      });
      if (uri.startsWith("/hook/") && (await answer.text()) !== "") throw new Error("an answer has a body");
      return answer.status;
    },
    /** A Receiver that is ready and selects the sources that exist. */
    async ready(spec: JsonObject = {}, name = "shop-hook"): Promise<void> {
      if (!objects.has(`Secret/${namespace}/token`)) self.secret({ token });
      if (!objects.has(`OCIRepository/${namespace}/shop`)) self.source("shop");
      self.receiver(spec, name);
      await self.run(name);
    },
    /** One run of the flow, under a lease of its own. */
    async run(name = "shop-hook"): Promise<FlowResult> {
      const key = keyOf(name);
      const fence = await leased({ items }, key);
      const lease = checkedLease(() => undefined);
      const result = await receiverFlow({ ...deps, home: lease.checked(deps.home) })({
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
    text: () =>
      JSON.stringify({ log: log.lines, events, objects: [...objects.values()].filter((one) => one.kind !== "Secret") }),
    keyText: (name = "shop-hook") => formatWorkKey(keyOf(name)),
  };
  return self;
}

async function fail(): Promise<never> {
  throw new Error("a Receiver has no artifact");
}

/** A world with a Receiver that is ready. */
export async function readyWorld(spec: JsonObject = {}) {
  const world = receiverWorld();
  await world.ready(spec);
  return world;
}
