import { canaryTargets } from "../api/canary-targets.ts";
import { mapLimit } from "../core/concurrency.ts";
import { type ObjectRef, subject } from "../core/object-ref.ts";
import type { ReconcileRequests } from "../core/ports/reconcile-requests.ts";
import type { Subscriptions } from "../core/ports/subscriptions.ts";
import { objectTopic } from "../core/topics.ts";

/** An object, and what an apply has done to it. */
export interface AppliedRef {
  readonly desired: { readonly ref: ObjectRef };
  readonly change: string;
}

interface AnnounceDeps {
  readonly subscriptions: Pick<Subscriptions, "subscribers">;
  readonly requests: ReconcileRequests;
  readonly concurrency: number;
}

/**
 * Wakes the Canaries that follow the objects that a run has changed in its own cluster, so that they need not wait for a watch or the
 * sweep (docs/maintainers/adr/0058-a-canary-at-rest-costs-nothing.md). An unchanged object costs nothing. If the process ends before,
 * the sweep tells them.
 */
export async function announceChanged(
  applied: readonly AppliedRef[],
  cluster: string,
  deps: AnnounceDeps,
  signal: AbortSignal,
): Promise<void> {
  const changed = applied.filter(({ change }) => isChange(change)).map(({ desired }) => desired.ref);
  await announce(changed, "changed", { ...deps, cluster }, signal);
}

/**
 * Wakes the Canaries whose target a run has deleted in its own cluster. A deleted ConfigMap or Secret is found by the sweep: its
 * target still has the pods that read it, or was changed too.
 */
export async function announceDeleted(
  deleted: readonly ObjectRef[],
  cluster: string,
  deps: AnnounceDeps,
  signal: AbortSignal,
): Promise<void> {
  await announce(
    deleted.filter(({ kind }) => kind !== "ConfigMap" && kind !== "Secret"),
    "deleted",
    { ...deps, cluster },
    signal,
  );
}

async function announce(
  refs: readonly ObjectRef[],
  what: "changed" | "deleted",
  { cluster, concurrency, requests, subscriptions }: AnnounceDeps & { readonly cluster: string },
  signal: AbortSignal,
): Promise<void> {
  const announceOne = async (ref: ObjectRef, stop: AbortSignal): Promise<void> => {
    const { group, kind, namespace, name } = ref;
    for (const follower of await subscriptions.subscribers(
      objectTopic({ cluster, group, kind, namespace, name }),
      stop,
    )) {
      await requests.request(follower, `${subject(ref)} ${what}`, stop);
    }
  };
  await mapLimit(refs.filter(isFollowed), concurrency, announceOne, signal);
}

function isChange(change: string): boolean {
  return change === "created" || change === "configured";
}

function isFollowed({ group, kind }: ObjectRef): boolean {
  return canaryTargets.some((one) => one.group === group && one.kind === kind);
}
