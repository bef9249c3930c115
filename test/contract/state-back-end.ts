import type { ArtifactRecords, RecordedArtifacts } from "../../lib/core/ports/artifact-records.ts";
import type { Fence } from "../../lib/core/ports/fence.ts";
import type { History } from "../../lib/core/ports/history.ts";
import type { ImageTags } from "../../lib/core/ports/image-tags.ts";
import type { InventoryStore } from "../../lib/core/ports/inventory-store.ts";
import type { Ledger } from "../../lib/core/ports/ledger.ts";
import type { ReceiverIndex } from "../../lib/core/ports/receiver-index.ts";
import type { Subscriptions } from "../../lib/core/ports/subscriptions.ts";
import type { ListedItems, UnreadableWorkItem, WorkItem, WorkItems } from "../../lib/core/ports/work-items.ts";
import type { WorkKey } from "../../lib/core/work-key.ts";

/** One empty place for all that Sluice remembers, as each suite wants it anew for each test. */
export interface StateBackEnd {
  readonly items: WorkItems;
  readonly subscriptions: Subscriptions;
  readonly inventories: InventoryStore;
  readonly ledger: Ledger;
  readonly records: ArtifactRecords & RecordedArtifacts;
  readonly receivers: ReceiverIndex;
  readonly imageTags: ImageTags;
  readonly history: History;
  /**
   * A signal that is aborted in the middle of the call that is given it: when the store has made so many of its writes, and
   * before the caller hears of the last of them. Where a call is one write, as soon as other code can run.
   */
  interruptedAfter(writes: number): AbortSignal;
  close(): Promise<void>;
}

export type OpenState = () => Promise<StateBackEnd>;

/** Why the signals of `interruptedAfter` are aborted. */
export const interruption = new Error("time is up");

export const never = new AbortController().signal;

/** Everything that is overdue, all pages as one. */
export async function overdueItems(
  items: Pick<WorkItems, "overdue">,
  now: number,
  isWanted: (cluster: string) => boolean = () => true,
): Promise<ListedItems> {
  const found: { items: WorkItem[]; unreadable: UnreadableWorkItem[] } = { items: [], unreadable: [] };
  for await (const page of items.overdue(now, isWanted, never)) {
    found.items.push(...page.items);
    found.unreadable.push(...page.unreadable);
    if (found.items.length > 1000) throw new Error("the list of the overdue has more items than were stored");
  }
  return found;
}

export function keyOf(name: string): WorkKey {
  return { cluster: "home", group: "kustomize.toolkit.fluxcd.io", kind: "Kustomization", namespace: "apps", name };
}

export function workItem(key: WorkKey, fields: Partial<WorkItem> = {}): WorkItem {
  return {
    key,
    version: 1,
    requested: 1,
    started: 0,
    handled: 0,
    token: 0,
    lease: undefined,
    wakeUntil: undefined,
    woken: undefined,
    dueAt: undefined,
    attempts: 0,
    died: false,
    phase: "Active",
    input: undefined,
    fault: undefined,
    hinted: undefined,
    hintedAt: undefined,
    carried: undefined,
    seen: undefined,
    ...fields,
  };
}

/** Gives the object a lease, so that writes under the fence that comes back go through. */
export async function leased(state: Pick<StateBackEnd, "items">, key: WorkKey): Promise<Fence> {
  const before = await state.items.get(key, never);
  const token = (before?.token ?? 0) + 1;
  const item = workItem(key, {
    version: (before?.version ?? 0) + 1,
    token,
    lease: { holder: `${token}`, renewals: 0 },
  });
  const answer = await state.items.put(item, never);
  if (answer !== "stored") throw new Error("the lease was not stored");
  return { key, token };
}
