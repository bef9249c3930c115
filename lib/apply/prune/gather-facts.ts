import { mapLimit } from "../../core/concurrency.ts";
import { messageOf } from "../../core/failure.ts";
import type { ObjectRef } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { InventoryEntry } from "../../core/ports/inventory-store.ts";
import type { Claim } from "../../core/ports/ledger.ts";
import type { ApplySet, Placed } from "../set/apply-set.ts";
import { cascadeScopeOf, mightBeWithin } from "../set/cascade-scope.ts";
import { formatEntryId, parseEntryId } from "../set/entry-id.ts";
import type { LiveObjects } from "../set/live-objects.ts";
import type { Claimant, EntryFacts, PruneFacts, Seen } from "./facts.ts";

/** What to prune. */
export interface PruneTask extends Pick<PruneFacts, "isFinalizing" | "policy" | "wanted"> {
  readonly inventory: readonly InventoryEntry[];
  /** The objects that were listed by owner labels; any other is read singly. A delete has the state that was seen as its condition. */
  readonly live: LiveObjects;
}

/** The prune candidates of an inventory: what is neither wanted nor kept for good. Pure. */
export function unwantedOf(
  inventory: readonly InventoryEntry[],
  wanted: readonly { readonly id: string }[],
): readonly InventoryEntry[] {
  const ids = new Set(wanted.map(({ id }) => id));
  return inventory.filter(({ id, state }) => state !== "retained" && !ids.has(id));
}

/**
 * Gathers the facts for `decidePrune`, each once; asks nothing if every object is wanted.
 *
 * Claims are read after the objects that other owners are about to apply: an owner that finishes in between claims its objects first, so
 * one of the two reads shows them. The owners of the claims are read last, so that an owner created in between is not taken for gone.
 */
export async function gatherFacts(task: PruneTask, set: ApplySet, signal: AbortSignal): Promise<PruneFacts> {
  const { owner, name, namespace, labelGroup, cluster, others, rules } = set;
  const { inventory, isFinalizing, live, policy, wanted } = task;
  const unwanted = unwantedOf(
    inventory,
    wanted.map(({ ref }) => ({ id: formatEntryId(ref) })),
  );
  const facts = {
    owner: { name, namespace, labelGroup, style: rules.style, clusterUid: owner.clusterUid },
    policy,
    isFinalizing,
    wanted,
  };
  if (unwanted.length === 0) {
    return { ...facts, clusterUid: owner.clusterUid, entries: [], expected: [], owners: [] };
  }
  const clusterUid = await cluster.uid(signal);
  if (policy === "retain") {
    const listed = unwanted.map((entry) => lookedAt(entry, listedOnly(entry, live)));
    return { ...facts, clusterUid, entries: await withClaimants(listed, set, signal), expected: [], owners: [] };
  }
  const looked = await lookAtAll(unwanted, live, set, signal);
  const scopes = looked.flatMap(({ object, ref }) => (object.kind === "there" ? (cascadeScopeOf(ref) ?? []) : []));
  const isWithin = (ref: ObjectRef) => scopes.some((scope) => mightBeWithin(ref, scope));
  const mayCascade = !isFinalizing && scopes.length > 0;
  const retained = mayCascade
    ? inventory.filter(({ id, state }) => state === "retained" && isWithin(parseEntryId(id)))
    : [];
  const kept = await lookAtAll(retained, live, set, signal);
  const ids = new Set(unwanted.map(({ id }) => id));
  const isNear = (ref: ObjectRef) => ids.has(formatEntryId(ref)) || isWithin(ref);
  const { expected, owners } = await others.ownersAround({ isNear, mayCascade }, signal);
  const entries = [...(await withClaimants(looked, set, signal)), ...kept];
  if (!scopes.some(({ kind }) => kind === "definition")) return { ...facts, clusterUid, entries, expected, owners };
  return { ...facts, clusterUid, entries, ...(await withPlurals({ expected, owners }, set, signal)) };
}

/** With what the cluster calls their kinds in the plural, as definitions name them. */
export async function withPlurals(
  { expected, owners }: Pick<PruneFacts, "expected" | "owners">,
  set: Pick<ApplySet, "cluster">,
  signal: AbortSignal,
): Promise<Pick<PruneFacts, "expected" | "owners">> {
  const plurals = await pluralsOf([...expected, ...owners, ...owners.flatMap(({ has }) => has)], set, signal);
  const withPlural = <One extends Placed>(one: One): One => ({ ...one, plural: plurals.get(kindOf(one.ref)) });
  return {
    expected: expected.map(withPlural),
    owners: owners.map((one) => ({ ...withPlural(one), has: one.has.map(withPlural) })),
  };
}

/** The other owners that claim these objects, by entry id; each claimant is read once. */
export async function claimantsOf(
  entries: readonly Pick<InventoryEntry, "id">[],
  { concurrency, ledger, others, owner }: ApplySet,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Claimant[]>> {
  const ids = entries.map(({ id }) => id);
  const claims = await ledger.claims(owner.clusterUid, ids, signal);
  const ofOthers = new Map<string, Claim>();
  for (const claim of [...claims.values()].flat()) {
    if (claim.ownerUid !== owner.uid) ofOthers.set(claim.ownerUid, claim);
  }
  const states = new Map(
    await mapLimit(
      [...ofOthers.values()],
      concurrency,
      async (claim, stop) => [claim.ownerUid, await others.stateOf(claim, stop)] as const,
      signal,
    ),
  );
  const claimantsIn = (made: readonly Claim[]) =>
    made.flatMap(({ owner: by, ownerUid: uid }): readonly Claimant[] => {
      const state = states.get(uid);
      return state === undefined ? [] : [{ uid, owner: by, state }];
    });
  return new Map([...claims].map(([id, made]) => [id, claimantsIn(made)]));
}

async function withClaimants(
  looked: readonly EntryFacts[],
  set: ApplySet,
  signal: AbortSignal,
): Promise<readonly EntryFacts[]> {
  const claimants = await claimantsOf(
    looked.map(({ entry }) => entry),
    set,
    signal,
  );
  return looked.map((one) => ({ ...one, claimants: claimants.get(one.entry.id) ?? [] }));
}

/** Without its claimants, which are gathered later. */
function lookedAt(entry: InventoryEntry, object: Seen): EntryFacts {
  return { entry, ref: parseEntryId(entry.id), object, claimants: [] };
}

async function lookAtAll(
  entries: readonly InventoryEntry[],
  live: LiveObjects,
  set: ApplySet,
  signal: AbortSignal,
): Promise<readonly EntryFacts[]> {
  return mapLimit(
    entries,
    set.concurrency,
    async (entry, stop) => lookedAt(entry, await lookAt(entry, live, set, stop)),
    signal,
  );
}

/** In the recorded version, or the one that the cluster prefers now. If a kind is no longer served, its objects are gone too. */
async function lookAt(
  entry: InventoryEntry,
  live: LiveObjects,
  { cluster }: ApplySet,
  signal: AbortSignal,
): Promise<Seen> {
  const ref = parseEntryId(entry.id);
  const { group, kind } = ref;
  try {
    const resource =
      (await cluster.resource({ group, kind, version: entry.version }, signal)) ??
      (await cluster.resource({ group, kind }, signal));
    if (resource === undefined) return { kind: "gone" };
    const { plural, version } = resource;
    const found = live.get(entry.id) ?? (await cluster.get({ ...ref, version }, signal));
    return found === undefined ? { kind: "gone" } : { kind: "there", version, plural, metadata: found.metadata };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const seen = { kind: "unknown", message: `query failed: ${messageOf(error)}` } as const;
    return error.reason === "Forbidden" ? { ...seen, isForbidden: true } : seen;
  }
}

function listedOnly({ id, version }: InventoryEntry, live: LiveObjects): Seen {
  const listed = live.get(id);
  return listed === undefined ? { kind: "unasked" } : { kind: "there", version, plural: "", metadata: listed.metadata };
}

/** The plural names of these kinds in the cluster, by {@link kindOf}. */
async function pluralsOf(
  placed: readonly Placed[],
  { cluster }: Pick<ApplySet, "cluster">,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string | undefined>> {
  const plurals = new Map<string, string | undefined>();
  for (const { ref } of placed) {
    const kind = kindOf(ref);
    if (!plurals.has(kind)) plurals.set(kind, (await cluster.resource(ref, signal))?.plural);
  }
  return plurals;
}

function kindOf({ group, kind }: ObjectRef): string {
  return `${group}/${kind}`;
}
