import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { composeFlows, type FlowAdapters } from "../../../functions/compose-flows.ts";
import { composeReceiver } from "../../../functions/compose-receiver.ts";
import { composeReconcile, type ReconcileAdapters } from "../../../functions/compose-reconcile.ts";
import { defaultSettings, type Settings } from "../../../functions/settings/settings.ts";
import { servedKind } from "../../../lib/api/kinds/declaration.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import type { AccountTokens } from "../../../lib/core/ports/account-tokens.ts";
import type { ListQuery } from "../../../lib/core/ports/cluster.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import type { FlowParts, Kind } from "../../../lib/flows/kinds/kind.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import type { ServedCluster } from "../../../lib/gate/served-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { authentications } from "../../../lib/receiver/authenticate.ts";
import { sqsEvent } from "../../../local/aws-events.ts";
import { queuedLookRequests, queuedWakeUps } from "../../../local/state/message-queue.ts";
import { openStores } from "../../../local/state/open-stores.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { noCel } from "../../doubles/no-cel.ts";
import { noAccountTokens, noHome, noTarget } from "../../doubles/no-cluster.ts";
import { noHelm } from "../../doubles/no-helm.ts";
import { noRemoteClusters } from "../../doubles/no-remote-clusters.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const nothing = (): Promise<never> => Promise.reject(new Error("the test did not expect this call"));

const metadata = { name: "web", namespace: "apps", uid: "u", generation: 1, resourceVersion: "1" };

/** A process that serves cluster `home`, in which one Kustomization `web` is. */
function world(given: Partial<ReconcileAdapters> = {}) {
  const database = openStateDatabase(":memory:");
  const stores = openStores(database, tmpdir(), systemClock);
  const wakeUps = queuedWakeUps(stores.queue);
  const queue = { items: stores.items, wakeUps, clock: systemClock, log: silentLog, rules };
  const made: string[] = [];
  const ran: string[] = [];
  const home = {
    ...noHome,
    get: async () => undefined,
    listMetadata: async ({ kind }: ListQuery) =>
      kind === "Kustomization" ? [{ apiVersion: "v1", kind, metadata }] : [],
  };
  const served: ServedCluster = {
    ...{ id: "home", home, targetAs: () => noTarget, gated: () => noTarget, gate: openGate },
  };
  const { handler, observedKinds } = composeReconcile({
    ...{ queue, stores, kinds, metrics: recordedMetrics(), gates: defaultGates, configSelector: undefined },
    clusters: { get: (id) => (id === "home" ? served : undefined) },
    deadLetters: stores.deadLetters,
    looks: queuedLookRequests(stores.queue),
    extendVisibility: async () => undefined,
    maxRuns: () => 1,
    flows: ({ id }) => {
      made.push(id);
      return () => async (run) => {
        ran.push(`${run.key.cluster} ${run.key.name}`);
        return { outcome: "unchanged", dueInMs: undefined };
      };
    },
    ...given,
  });
  const key = keyOf("web");
  return {
    ...{ made, ran, observedKinds, key, stores },
    handle: (message: object) => handler(sqsEvent([{ id: "1", body: JSON.stringify(message), receives: 1 }]), never),
    [Symbol.dispose]: () => database.close(),
  };
}

describe("a process that reconciles", () => {
  test("runs objects that a sweep has found, with flows that are created once for its cluster", async () => {
    using process = world();
    const done = { batchItemFailures: [] };
    expect(await process.handle({ sweep: "home" })).toEqual(done);
    expect(await process.stores.items.get(process.key, never)).toMatchObject({ requested: 1, handled: 0 });
    expect(process.ran).toEqual([]);
    expect(await process.handle({ key: formatWorkKey(process.key) })).toEqual(done);
    expect(await process.handle({ key: formatWorkKey(process.key) })).toEqual(done);
    expect(process.ran).toEqual(["home web"]);
    expect(process.made).toEqual(["home"]);
    expect(await process.stores.items.get(process.key, never)).toMatchObject({ requested: 1, handled: 1 });
  });

  test("requests a run of an announced object that has changed", async () => {
    using process = world();
    await process.handle({ look: { key: formatWorkKey(process.key), tries: 0 } });
    expect(await process.stores.items.get(process.key, never)).toMatchObject({ requested: 1 });
  });

  test("skips a cluster that it does not serve", async () => {
    using process = world();
    const key = { ...process.key, cluster: "elsewhere" };
    await process.handle({ sweep: "elsewhere" });
    await process.handle({ key: formatWorkKey(key) });
    expect([process.ran, process.made]).toEqual([[], []]);
  });

  test.each([
    { what: "its kinds alone", given: {}, more: [] },
    { what: "ConfigMaps and Secrets by a selector", given: { configSelector: "a=b" }, more: ["ConfigMap", "Secret"] },
    {
      what: "ExternalArtifacts behind their gate",
      given: { gates: { ...defaultGates, ExternalArtifact: true } },
      more: ["ExternalArtifact"],
    },
  ])("observes $what, and the objects that Canaries follow", ({ given, more }) => {
    using process = world(given);
    expect(process.observedKinds.map(({ kind }) => kind)).toEqual([
      ...kinds.map((kind) => servedKind(kind).kind),
      ...more,
      ...["Deployment", "DaemonSet", "Service", "ConfigMap", "Secret"],
    ]);
  });
});

test("a process creates flows with the settings of the installation and the clients of their cluster", async () => {
  const [kind] = kinds;
  if (kind === undefined) throw new Error("no kinds");
  const given: FlowParts[] = [];
  const noted: Kind = {
    ...kind,
    flow: (parts) => {
      given.push(parts);
      return () => Promise.reject(new Error("nothing runs here"));
    },
  };
  const settings: Settings = {
    ...defaultSettings,
    "no-cross-namespace-refs": true,
    "default-decryption-service-account": "opener",
  };
  const database = openStateDatabase(":memory:");
  const adapters: FlowAdapters = {
    ...openStores(database, tmpdir(), systemClock),
    ...{
      cel: noCel,
      helm: noHelm,
      remoteClusters: noRemoteClusters,
      clock: systemClock,
      log: silentLog,
      settings,
      concurrency: 3,
    },
    engine: { build: () => Promise.reject(new Error("nothing is built")) },
    http: { send: nothing, open: nothing, dial: nothing },
    dataKeys: { open: nothing },
    artifactUrl: (path) => path,
    installationKey: new Secret("0".repeat(64)),
    metrics: recordedMetrics(),
  };
  const accountTokens: AccountTokens = { ...noAccountTokens };
  const [home, target, remote] = [{ ...noHome }, { ...noTarget }, { ...noTarget }];
  const requests = { request: async () => undefined };
  const flowsOf = composeFlows([noted], adapters);
  flowsOf({ id: "home", home, targetAs: () => target, gated: () => remote, gate: openGate, accountTokens }, requests);
  const [parts] = given;
  expect(parts).toMatchObject({ noCrossNamespaceRefs: true, concurrency: 3 });
  expect([parts?.home, parts?.targetAs("u"), parts?.gated(noHome)]).toEqual([home, target, remote]);
  expect(parts?.home).toBe(home);
  expect(parts?.sopsKeys).toMatchObject({ defaultAccount: "opener" });
  expect(parts?.sopsKeys.accountTokens).toBe(accountTokens);
  database.close();
});

test("a process refuses a delivery for a Receiver in a cluster that is not served, and logs the cluster", async () => {
  const log = recordedLog();
  const key = { ...keyOf("hook"), kind: "Receiver", cluster: "elsewhere" };
  const entry = { state: "ready", type: "generic", events: [], secret: "token", resources: [] } as const;
  const receive = composeReceiver({
    receivers: { save: nothing, remove: nothing, find: async () => [{ key, entry }] },
    clusters: { get: () => undefined },
    requests: { hint: nothing },
    ...{ authentications, cel: noCel, clock: systemClock, log, metrics: recordedMetrics() },
  });
  const body = (async function* () {
    yield Buffer.from("{}");
  })();
  const answer = await receive({ uri: `/hook/${"0".repeat(64)}`, header: () => undefined, body });
  expect(answer.status).toBe(400);
  expect(JSON.stringify(log.lines)).toContain("cluster elsewhere is not served here");
});
