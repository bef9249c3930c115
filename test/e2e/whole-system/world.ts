import { randomUUID } from "node:crypto";
import { expect, vi } from "vitest";
import type { Bundle } from "../../../infra/bundle.ts";
import { findCondition } from "../../../lib/api/condition.ts";
import { type Kustomization, parseKustomization } from "../../../lib/api/kustomization.ts";
import { kustomizeGroup, requestedAtAnnotation, sourceGroup } from "../../../lib/api/names.ts";
import { openDynamodbStores } from "../../../lib/aws/dynamodb/open-stores.ts";
import { dynamodbClient } from "../../../lib/aws/dynamodb/state-table.ts";
import { messageOf } from "../../../lib/core/failure.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type Cluster, type PartialObject } from "../../../lib/core/ports/cluster.ts";
import type { WorkItem } from "../../../lib/core/ports/work-items.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { removeOwner } from "../../doubles/remove-owner.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type AuditEvent, followAudit } from "./audit-log.ts";
import { type Deliver, type Functions, startFunctions } from "./functions.ts";
import { type Installation, install } from "./installation.ts";
import { type Client, type Files, push } from "./push.ts";
import type { RealParts } from "./real-parts.ts";
import { registryEvents } from "./registry-events.ts";

/** One Sluice on real parts, one application that it looks after, and what people can do with both. */
export interface World extends AsyncDisposable {
  /** As the cluster's administrator. */
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly installation: Installation;
  readonly functions: Functions;
  /** Makes the source and the Kustomization, and waits until the source listens to its repository. */
  follow(): Promise<void>;
  /** Pushes under tag v1; answers the revision that the source will show. */
  push(files: Files, client?: Client): Promise<string>;
  app(): Promise<Kustomization>;
  /** `status reason: message` of the Ready condition. */
  readonly ready: () => Promise<string>;
  /** Waits until the revision is applied. */
  applied(revision: string): Promise<void>;
  /** Looks until it holds; past that, says what the functions have logged. */
  soon(look: () => Promise<unknown>, holds: (seen: unknown) => void): Promise<void>;
  /** Asks for a run as `flux reconcile` does, and waits until it is handled. */
  reconcile(): Promise<void>;
  get(kind: string, name: string): Promise<LiveObject | undefined>;
  /** The names of the ConfigMaps that the Kustomization has made. */
  made(): Promise<readonly PartialObject[]>;
  events(): Promise<readonly string[]>;
  /** Waits until no run is under way, then records Sluice's requests to the API server; the returned function gives them. */
  watchRequests(): Promise<() => Promise<readonly AuditEvent[]>>;
  /** What the queue remembers of the Kustomization. */
  workItem(): Promise<WorkItem | undefined>;
  /** The Kustomization, for deletions. */
  readonly appRef: Parameters<Cluster["delete"]>[0];
}

export interface WorldOptions {
  readonly parts: RealParts;
  readonly bundles: ReadonlyMap<string, Bundle>;
  readonly title: string;
  readonly environments: number;
  readonly dynamodb?: string;
  readonly deliver?: Deliver;
  /** Of the namespace, the repository, and what else is made. Default: the title and something random. */
  readonly name?: string;
  /** Default: one whose resources the tests make themselves. */
  readonly install?: typeof install;
}

/** Under load, with a lease that has to run out first. */
const patient = { timeout: deadlineMs, interval: 100 };
const tag = "v1";
const app = "app";
const apiVersions: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  HorizontalPodAutoscaler: "autoscaling/v2",
  PodDisruptionBudget: "policy/v1",
};

export async function openWorld({ parts, bundles, title, environments, ...faults }: WorldOptions): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const { signal } = new AbortController();
  const { eks } = parts;
  const { name = `${title}-${randomUUID().slice(0, 8)}` } = faults;
  const namespace = name;
  const cluster = connect(await readKubeconfig({ file: eks.kubeconfig, env: {}, homeDir: "/" }), {
    clock: systemClock,
    env: {},
  });
  opening.defer(() => cluster.close());
  await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  await letGoOfAll(cluster, signal);
  await cluster.apply(
    { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    { manager: "test", force: true },
    signal,
  );
  const namespaceRef = { group: "", version: "v1", kind: "Namespace", namespace: "", name };
  opening.defer(async () => void (await cluster.delete(namespaceRef, { propagation: "Background" }, signal)));
  const { dynamodb, deliver, install: installed = install } = faults;
  const given = { name, namespace, ...(dynamodb === undefined ? {} : { dynamodb }) };
  const installation = opening.use(await installed(parts, given, signal));
  const functions = opening.use(
    await startFunctions({
      bundles,
      installation,
      region: eks.cluster.region,
      environments,
      ...(deliver === undefined ? {} : { deliver }),
    }),
  );
  opening.use(await registryEvents(parts.registryEvents, eks.cluster, functions.ingest));
  opening.defer(() => letGoOfAll(cluster, signal));

  const refOf = (kind: string, object: string, apiVersion = apiVersions[kind] ?? "v1") => {
    const [version = "", group = ""] = apiVersion.split("/").toReversed();
    return { group, version, kind, namespace, name: object };
  };
  const appRef = refOf("Kustomization", app, `${kustomizeGroup}/v1`);
  const sourceRef = refOf("OCIRepository", app, `${sourceGroup}/v1`);
  const read = async (): Promise<Kustomization> => {
    const live = await cluster.get(appRef, signal);
    if (live === undefined) throw new Error(`Kustomization/${namespace}/${app} is not there`);
    return parseKustomization(live);
  };
  const ready = async (): Promise<string> => {
    const condition = findCondition((await read()).status.conditions ?? [], "Ready");
    return condition === undefined ? "" : `${condition.status} ${condition.reason}: ${condition.message}`;
  };
  const soon = async (look: () => Promise<unknown>, holds: (seen: unknown) => void): Promise<void> => {
    try {
      await vi.waitFor(async () => holds(await look()), patient);
    } catch (error) {
      // Why, only the functions can say.
      throw new Error(`${messageOf(error)}\n\n${functions.log().slice(-6_000)}`, { cause: error });
    }
  };
  const { region } = eks.cluster;
  const client = dynamodbClient(parts.dynamodb);
  opening.defer(() => client.destroy());
  const { items } = openDynamodbStores({ client, name, region, clock: systemClock });
  const opened = opening.move();
  const workItem = () =>
    items.get({ cluster: eks.clusterArn, group: kustomizeGroup, kind: "Kustomization", namespace, name: app }, signal);
  return {
    cluster,
    namespace,
    signal,
    installation,
    functions,
    appRef,
    workItem,
    async follow() {
      const apply = (manifest: Parameters<Cluster["apply"]>[0]) =>
        cluster.apply(manifest, { manager: "kubectl", force: true }, signal);
      // Of another owner: it still exists when all our objects are gone.
      await apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "bystander", namespace } });
      const url = `oci://${installation.registryHost}/${name}`;
      await apply({
        apiVersion: `${sourceGroup}/v1`,
        kind: "OCIRepository",
        metadata: { name: app, namespace },
        spec: { interval: "10m", url, provider: "aws", ref: { tag } },
      });
      await apply({
        apiVersion: `${kustomizeGroup}/v1`,
        kind: "Kustomization",
        metadata: { name: app, namespace },
        spec: { interval: "10m", path: ".", prune: true, sourceRef: { kind: "OCIRepository", name: app } },
      });
      await soon(ready, (seen) => expect(seen).toMatch(/^False ArtifactFailed/));
      const source = async () => (await cluster.get(sourceRef, signal))?.["status"];
      await soon(source, (seen) => expect(seen).toMatchObject({ conditions: expect.anything() }));
    },
    async push(files, client = "crane") {
      return `${tag}@${await push(client, `${parts.registry}/${name}`, tag, files)}`;
    },
    app: read,
    ready,
    applied(revision) {
      const wanted = `True ReconciliationSucceeded: Applied revision: ${revision}`;
      return soon(ready, (seen) => expect(seen).toBe(wanted));
    },
    soon,
    async reconcile() {
      const requestedAt = randomUUID();
      const body = { metadata: { annotations: { [requestedAtAnnotation]: requestedAt } } };
      await cluster.patch(appRef, { type: "merge", body }, { manager: "flux" }, signal);
      const handled = async () => (await read()).status.lastHandledReconcileAt;
      await soon(handled, (seen) => expect(seen).toBe(requestedAt));
    },
    get: (kind, object) => cluster.get(refOf(kind, object), signal),
    made() {
      const labelSelector = `${kustomizeGroup}/name=${app}`;
      return cluster.listMetadata({ group: "", version: "v1", kind: "ConfigMap", namespace, labelSelector }, signal);
    },
    async events() {
      const fieldSelector = "involvedObject.kind=Kustomization";
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
      return found
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ message }) => String(message));
    },
    async watchRequests() {
      // The last events of a run come after its status.
      await soon(
        async () => (await workItem())?.lease,
        (lease) => expect(lease).toBeUndefined(),
      );
      const log = await followAudit(eks.audit);
      return async () => (await log()).filter(({ user }) => user.username === installation.username);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Ends every custom resource, also those of a run that was cut off: a sweep would take them for its own. */
async function letGoOfAll(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await removeOwner(cluster, signal);
  for (const kind of [
    { group: kustomizeGroup, version: "v1", kind: "Kustomization" },
    { group: sourceGroup, version: "v1", kind: "OCIRepository" },
  ]) {
    for (const { metadata } of await cluster.listMetadata(kind, signal)) {
      const ref = { ...kind, namespace: metadata.namespace ?? "", name: metadata.name };
      await cluster.delete(ref, { propagation: "Background" }, signal);
      const patch = { type: "merge", body: { metadata: { finalizers: null } } } as const;
      await cluster.patch(ref, patch, { manager: "test" }, signal).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.reason === "NotFound")) throw error;
      });
    }
  }
}
