import { z } from "zod";
import { declaredExternalArtifact } from "../../api/kinds/external-artifact.ts";
import { KustomizationStatus } from "../../api/kustomization-status.ts";
import { sourceGroup } from "../../api/names.ts";
import type { ReportedEvent } from "../../core/event-manifest.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LiveObject, Manifest } from "../../core/manifest.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import { asHome, asTarget, type HomeCluster } from "../../core/ports/home-and-target.ts";
import type { FlowResult, Run } from "../../core/ports/run.ts";
import type { WorkKey } from "../../core/work-key.ts";
import { guardedCluster } from "../../gate/guarded-cluster.ts";
import { sendEvent, untold } from "../record-event.ts";
import type { KustomizationDeps } from "./context.ts";
import { type ObjectVersion, versionOf } from "./object-cache.ts";
import { isShownOfLate } from "./status.ts";

// A run at the interval reads neither its Kustomization nor the source where nothing has asked for it: each of their changes that
// matters asks for a run. It may only find out that nothing has changed. Reasons and limits: docs/maintainers/adr/0052.

const Version = z.object({ uid: z.string(), resourceVersion: z.string() });

/** What a successful run passes on. */
const EndedWell = z.object({
  read: z.object({
    /** The lease under which it ran: another run since, however it ended, may have written. */
    token: z.number(),
    kustomization: Version,
    source: Version.exactOptional(),
  }),
});
type Read = z.infer<typeof EndedWell>["read"];

/** The flow of a Kustomization, with the given outside services. */
type Reconcile = (run: Run, deps: KustomizationDeps) => Promise<FlowResult>;

/**
 * Runs the flow on cached objects if possible; otherwise, or if anything has changed, on the API server's answers. The run on cached
 * objects lists the managed objects like any other and writes nothing but the event that says so.
 */
export async function withCache(run: Run, deps: KustomizationDeps, reconcile: Reconcile): Promise<FlowResult> {
  return (await cachedRun(run, deps, reconcile)) ?? readingRun(run, deps, reconcile);
}

async function readingRun(run: Run, deps: KustomizationDeps, reconcile: Reconcile): Promise<FlowResult> {
  const reads = reading(run, deps, undefined);
  const result = await reconcile(run, { ...deps, home: reads.home });
  return { ...result, ...reads.carriedBy(result) };
}

/** Undefined if the run has to read everything. */
async function cachedRun(run: Run, deps: KustomizationDeps, reconcile: Reconcile): Promise<FlowResult | undefined> {
  const known = knownRead(run, deps);
  if (known === undefined) return undefined;
  const reads = reading(run, deps, known);
  const refusing = refusingWrites(deps, reads.home);
  try {
    // Nor is an event reported before it is sent.
    const result = await reconcile(untold(run), refusing.deps);
    if (refusing.isRefused()) return undefined;
    // Not before it is certain that nothing has changed.
    for (const event of refusing.events) await sendEvent(event, deps.home, run, deps.log);
    return { ...result, ...reads.carriedBy(result) };
  } catch (error) {
    run.signal.throwIfAborted();
    if (!refusing.isRefused()) throw error;
    return undefined;
  }
}

/** What the last run has read, if this one may use it. */
function knownRead({ carried, fence, isRequested, key }: Run, { clock, objects }: KustomizationDeps): Read | undefined {
  const ended = EndedWell.safeParse(carried);
  if (isRequested || !ended.success) return undefined;
  const { read } = ended.data;
  if (fence.token !== read.token + 1) return undefined;
  const live = objects.get(key, read.kustomization);
  if (live === undefined) return undefined;
  const { deletionTimestamp, generation } = live.metadata;
  const status = KustomizationStatus.safeParse(live["status"]);
  const isDone = deletionTimestamp === undefined && status.data?.observedGeneration === generation;
  return isDone && isShownOfLate(status.data ?? {}, clock.now()) ? read : undefined;
}

/** Reads that are cached, and answered from the cache where they are known to be of this version. */
function reading(run: Run, { home, objects }: KustomizationDeps, known: Read | undefined) {
  const { key } = run;
  let kustomization: ObjectVersion | undefined;
  let source: ObjectVersion | undefined;
  const note = (ref: ObjectRef, live: LiveObject): void => {
    if (isSame(ref, key)) kustomization = versionOf(live);
    else source = versionOf(live);
  };
  const isCached = (ref: ObjectRef): boolean => isSame(ref, key) || isSource(ref);
  const keep = <Live extends LiveObject | undefined>(ref: ObjectRef, live: Live): Live => {
    if (live === undefined || !isCached(ref)) return live;
    objects.put(keyOf(ref, key), live);
    note(ref, live);
    return live;
  };
  const get: HomeCluster["get"] = async (ref, signal) => {
    const version = isSame(ref, key) ? known?.kustomization : known?.source;
    const cached = version && isCached(ref) ? objects.get(keyOf(ref, key), version) : undefined;
    if (cached === undefined) return keep(ref, await home.get(ref, signal));
    note(ref, cached);
    return cached;
  };
  const patch: HomeCluster["patch"] = async (ref, body, options, signal) =>
    isSame(ref, key) && options.dryRun !== true
      ? keep(ref, await home.patch(ref, body, options, signal))
      : home.patch(ref, body, options, signal);
  return {
    home: asHome({ ...home, get, patch }),
    /** The result with the objects that were read, if its run was successful. */
    carriedBy({ carried, outcome }: FlowResult): { readonly carried?: JsonObject } {
      if (outcome !== "applied" || carried === undefined || kustomization === undefined) return {};
      const read = { token: run.fence.token, kustomization: { ...kustomization } };
      return { carried: { ...carried, read: source === undefined ? read : { ...read, source: { ...source } } } };
    },
  };
}

function isSame(ref: ObjectRef, { group, kind, namespace, name }: WorkKey): boolean {
  return ref.group === group && ref.kind === kind && ref.namespace === namespace && ref.name === name;
}

/** Whether a run of the source's own kind tells its consumers of each change; that of an ExternalArtifact may be seen late. */
function isSource({ group, kind }: ObjectRef): boolean {
  return group === sourceGroup && kind !== declaredExternalArtifact.kind;
}

function keyOf({ group, kind, namespace, name }: ObjectRef, { cluster }: WorkKey): WorkKey {
  return { cluster, group, kind, namespace, name };
}

/** The world without writes to the clusters and to our own state. The event that ends each run is held back. */
function refusingWrites(deps: KustomizationDeps, home: HomeCluster) {
  const events: ReportedEvent[] = [];
  let isRefused = false;
  const refuse = async (): Promise<never> => {
    isRefused = true;
    throw new Error("a run on cached objects has something to write");
  };
  const readOnly = guardedCluster(home, refuse);
  const create: HomeCluster["create"] = async (manifest, options, signal) => {
    if (!isFinishedEvent(manifest)) return readOnly.create(manifest, options, signal);
    events.push(manifest);
    return { ...manifest, metadata: { ...manifest.metadata, uid: "" } };
  };
  const refusing: KustomizationDeps = {
    ...deps,
    home: asHome({ ...readOnly, create }),
    targetOf: async (live, signal) => asTarget(guardedCluster(await deps.targetOf(live, signal), refuse)),
    remoteTargetOf: async (live, place, signal) => {
      const remote = await deps.remoteTargetOf(live, place, signal);
      return { ...remote, cluster: asTarget(guardedCluster(remote.cluster, refuse)) };
    },
    inventories: { ...deps.inventories, save: refuse, remove: refuse },
    ledger: { ...deps.ledger, claim: refuse, release: refuse },
    // Its caller would log the error.
    history: {
      ...deps.history,
      append: async () => {
        isRefused = true;
      },
    },
    requests: { ...deps.requests, request: refuse },
  };
  return { deps: refusing, events, isRefused: () => isRefused };
}

function isFinishedEvent(manifest: Manifest): manifest is ReportedEvent {
  return manifest.kind === "Event" && manifest["reason"] === "ReconciliationSucceeded";
}
