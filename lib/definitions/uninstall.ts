import { type KindDeclaration, servedKind } from "../api/kinds/declaration.ts";
import { canaryFinalizer, finalizer, generatorFinalizer } from "../api/names.ts";
import { mapLimit } from "../core/concurrency.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import { subject, type VersionedRef } from "../core/object-ref.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster, type PartialObject } from "../core/ports/cluster.ts";
import { ownerObjectRef, readOwnerObject } from "../gate/owner-object.ts";
import { pauseCluster, pauseOf } from "../gate/pause.ts";
import { lookCountsMs } from "../gate/write-gate.ts";
import { installedWebhook, webhookRef } from "./admission-webhook.ts";
import { installedHolders, rightsManifests } from "./cluster-rights.ts";
import { definitionRef, installManager, isOurs } from "./install-crds.ts";

export interface UninstallDeps {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly kinds: readonly KindDeclaration[];
  /** Told of each thing that is done, for people. */
  readonly report: (line: string) => void;
}

export interface UninstallOptions {
  /** Keeps the definitions and their objects, which only lose our finalizer. */
  readonly keepDefinitions: boolean;
}

/** The changes of an uninstallation; it leaves everything that was applied. */
export interface UninstallPlan {
  /** Objects of definitions that stay: they lose our finalizer. */
  readonly released: readonly VersionedRef[];
  /** Objects of definitions that go. */
  readonly deleted: readonly VersionedRef[];
  /** Definitions that Sluice installed. Flux's definitions stay. */
  readonly definitions: readonly VersionedRef[];
  /** The admission webhook and the rights of the functions in AWS, in the order of their removal. */
  readonly rights: readonly VersionedRef[];
  readonly hasOwner: boolean;
}

/** A request that was sent before the pause may take effect so much later. */
const settleMs = lookCountsMs + 5_000;
const concurrency = 4;
const maxTries = 5;
/** The garbage collector of a real cluster notices a new kind only after half a minute. */
const goneWithinMs = 120_000;
/** The first delay between two looks at objects; each further one is twice as long, up to the second. */
const pollMs = 250;
const maxPollMs = 2_000;

/** Without its finalizer it would go at once, and the cluster would delete what serves production with it. */
function isReverting({ deletionTimestamp, finalizers = [] }: PartialObject["metadata"]): boolean {
  return deletionTimestamp !== undefined && finalizers.includes(canaryFinalizer);
}

const reverting =
  "is being deleted, and its target does not serve again yet: wait until it is gone (in a paused cluster after sluice resume), then run sluice uninstall again";

/** Reads only. Throws if a Canary is being reverted. */
export async function planUninstall(
  { keepDefinitions }: UninstallOptions,
  { cluster, kinds }: Pick<UninstallDeps, "cluster" | "kinds">,
  signal: AbortSignal,
): Promise<UninstallPlan> {
  const released: VersionedRef[] = [];
  const deleted: VersionedRef[] = [];
  const definitions: VersionedRef[] = [];
  for (const kind of kinds) {
    const live = await cluster.get(definitionRef(kind), signal);
    const goes = !keepDefinitions && live !== undefined && isOurs(live);
    if (goes) definitions.push(definitionRef(kind));
    for (const { metadata } of await objectsOf(kind, cluster, signal)) {
      const ref = { ...servedKind(kind), namespace: metadata.namespace ?? "", name: metadata.name };
      if (isReverting(metadata)) throw new Error(`${subject(ref)} ${reverting}`);
      if (goes) deleted.push(ref);
      else if (metadata.finalizers?.some(isOurFinalizer) === true) released.push(ref);
    }
  }
  const rights: VersionedRef[] = [];
  const webhook = await installedWebhook(cluster, signal);
  if (webhook?.metadata.labels?.["app.kubernetes.io/managed-by"] === installManager) rights.push(webhookRef);
  // Bindings before roles.
  for (const manifest of installedHolders.flatMap((holder) => rightsManifests(holder)).toReversed()) {
    const live = await cluster.get(refOf(manifest), signal);
    if (live?.metadata.labels?.["app.kubernetes.io/managed-by"] === installManager) rights.push(refOf(manifest));
  }
  const hasOwner = (await cluster.get(ownerObjectRef, signal)) !== undefined;
  return { released, deleted, definitions, rights, hasOwner };
}

/**
 * Removes Sluice from a cluster and leaves what it has applied. Can be killed anywhere and run again: the pause holds until the
 * last step. A Kustomization is deleted only in a version without our finalizer, so no flow prunes because of it, even if
 * the cluster is resumed meanwhile.
 *
 * @param by who pauses the cluster, for users
 * @throws Error if the cluster is resumed meanwhile, or if finalizers of other controllers block objects
 */
export async function uninstall(
  by: string,
  options: UninstallOptions,
  deps: UninstallDeps,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, report } = deps;
  // A Canary that is being reverted needs a cluster that is not paused.
  await planUninstall(options, deps, signal);
  const { isChanged } = await pauseCluster(by, { cluster, clock }, signal);
  report(isChanged ? "cluster paused" : "cluster is paused already");
  // Also where an earlier try has paused it: that may have been a moment ago.
  await clock.sleep(settleMs, signal);

  // Listed again: objects that were created since the question must not block the definitions.
  const plan = await planUninstall(options, deps, signal);
  await mapLimit(plan.released, concurrency, (ref, stop) => removeObject(ref, false, deps, stop), signal);
  await mapLimit(plan.deleted, concurrency, (ref, stop) => removeObject(ref, true, deps, stop), signal);
  await untilGone(plan.deleted, deps, signal);
  await removeNamed(plan.definitions, deps, signal);
  await removeNamed(plan.rights, deps, signal);
  await removeOwner(deps, signal);
}

/** Takes our finalizer off one object and deletes exactly the version without it; another version is looked at again. */
async function removeObject(
  ref: VersionedRef,
  isDeleted: boolean,
  { cluster, report }: UninstallDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const live = await cluster.get(ref, signal);
    if (live === undefined) return;
    try {
      const released = await release(live, cluster, signal);
      if (!isDeleted || released.metadata.deletionTimestamp !== undefined) {
        report(`${subject(ref)} released`);
        return;
      }
      const { uid, resourceVersion = "" } = released.metadata;
      await cluster.delete(ref, { uid, resourceVersion, propagation: "Orphan" }, signal);
      report(`${subject(ref)} deleted`);
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || !["Conflict", "NotFound"].includes(error.reason)) throw error;
      if ((await pauseOf(cluster, signal)) === undefined) {
        throw new Error("the cluster was resumed meanwhile: run sluice uninstall again", { cause: error });
      }
      if (tries === maxTries) throw error;
    }
  }
}

async function release(live: LiveObject, cluster: Cluster, signal: AbortSignal): Promise<LiveObject> {
  const { finalizers = [], resourceVersion = "" } = live.metadata;
  if (!finalizers.some(isOurFinalizer)) return live;
  const body = { metadata: { resourceVersion, finalizers: finalizers.filter((each) => !isOurFinalizer(each)) } };
  return cluster.patch(refOf(live), { type: "merge", body }, { manager: installManager }, signal);
}

const ourFinalizers: readonly string[] = [finalizer, generatorFinalizer, canaryFinalizer];

function isOurFinalizer(name: string): boolean {
  return ourFinalizers.includes(name);
}

/** Deleting a definition deletes its objects, including those that finalizers of other controllers protect: wait for them. */
async function untilGone(
  refs: readonly VersionedRef[],
  { cluster, clock, kinds }: UninstallDeps,
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Set(refs.map((ref) => subject(ref)));
  const awaited = kinds.filter(({ kind }) => refs.some((ref) => ref.kind === kind));
  const giveUpAt = clock.monotonic() + goneWithinMs;
  for (let delayMs = pollMs; ; delayMs = Math.min(2 * delayMs, maxPollMs)) {
    const left: string[] = [];
    for (const kind of awaited) {
      for (const { metadata } of await objectsOf(kind, cluster, signal)) {
        const name = subject({ kind: kind.kind, namespace: metadata.namespace ?? "", name: metadata.name });
        if (wanted.has(name)) left.push(`${name} (finalizers: ${heldBy(metadata)})`);
      }
    }
    if (left.length === 0) return;
    if (clock.monotonic() >= giveUpAt) {
      throw new Error(
        `still there after ${goneWithinMs / 1_000} s: ${left.join(", ")}. Remove what holds them and run sluice uninstall again; the cluster stays paused`,
      );
    }
    await clock.sleep(delayMs, signal);
  }
}

function heldBy({ finalizers = [] }: PartialObject["metadata"]): string {
  return finalizers.length === 0 ? "none" : finalizers.join(", ");
}

/** Deletes all of these, then waits until they are gone: a definition is only after the server lists none of its objects. */
async function removeNamed(
  refs: readonly VersionedRef[],
  { cluster, clock, report }: UninstallDeps,
  signal: AbortSignal,
): Promise<void> {
  const deleted: { readonly ref: VersionedRef; readonly uid: string }[] = [];
  for (const ref of refs) {
    const live = await cluster.get(ref, signal);
    if (live === undefined) continue;
    const { uid } = live.metadata;
    await cluster.delete(ref, { uid, propagation: "Background" }, signal);
    deleted.push({ ref, uid });
  }
  for (const { ref, uid } of deleted) {
    const giveUpAt = clock.monotonic() + goneWithinMs;
    while ((await cluster.get(ref, signal))?.metadata.uid === uid) {
      if (clock.monotonic() >= giveUpAt) {
        throw new Error(
          `${subject(ref)} is still there after ${goneWithinMs / 1_000} s: look at its conditions with kubectl describe, and run sluice uninstall again`,
        );
      }
      await clock.sleep(pollMs, signal);
    }
    report(`${subject(ref)} deleted`);
  }
}

/** Last of all, since it holds the pause. */
async function removeOwner({ cluster, report }: UninstallDeps, signal: AbortSignal): Promise<void> {
  const { live } = await readOwnerObject(cluster, signal);
  if (live === undefined) return;
  const { uid, resourceVersion = "" } = live.metadata;
  await cluster.delete(ownerObjectRef, { uid, resourceVersion, propagation: "Background" }, signal);
  report(`${subject(ownerObjectRef)} deleted`);
}

/** The objects of a kind; none if the cluster does not serve it. */
async function objectsOf(
  kind: KindDeclaration,
  cluster: Pick<Cluster, "listMetadata">,
  signal: AbortSignal,
): Promise<readonly PartialObject[]> {
  try {
    return await cluster.listMetadata(servedKind(kind), signal);
  } catch (error) {
    if (error instanceof ApiError && error.reason === "NoMatch") return [];
    throw error;
  }
}
