import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import { type LiveObject, refOf } from "../../../../lib/core/manifest.ts";
import { type Content, namespace, type OwnershipWorld, ownerOf } from "./ownership-world.ts";
import type { Published } from "./watch-runs.ts";

export interface Ending {
  /** What each owner has in the end; nothing where it was deleted. */
  readonly wanted: Content;
  readonly cast: ReadonlyMap<string, { readonly source: string; readonly prune: boolean }>;
  readonly published: readonly Published[];
}

interface Owned {
  readonly name: string;
  readonly owner: string;
}

/** Everything has one owner, by label, inventory and ledger; an object that no owner wants is gone, unless its owner does not prune. */
export async function judge(world: OwnershipWorld, ending: Ending, violate: (what: string) => void): Promise<void> {
  const owned = Object.entries(ending.wanted).flatMap(([owner, names]) =>
    names.map((name): Owned => ({ name, owner })),
  );
  const live = world.cluster.list({ group: "", version: "v1", kind: "ConfigMap" });
  judgeObjects(live, owned, { world, ending }, violate);
  for (const owner of ending.cast.keys()) await judgeOwner(owner, world, ending, violate);
  const names = new Set([...live.map(({ metadata }) => metadata.name), ...owned.map(({ name }) => name)]);
  for (const name of names) {
    const claimants = (await world.claims(idOf(name))).map(({ ownerUid, owner }) => claimantOf(owner, ownerUid, world));
    const expected = owned.filter((one) => one.name === name).map(({ owner }) => owner);
    if (claimants.join() !== expected.join())
      violate(`${name} is claimed by ${listed(claimants)}, expected: ${listed(expected)}`);
  }
}

function judgeObjects(
  live: readonly LiveObject[],
  owned: readonly Owned[],
  { world, ending }: { readonly world: OwnershipWorld; readonly ending: Ending },
  violate: (what: string) => void,
): void {
  for (const object of live) {
    const { name } = object.metadata;
    const owner = ownerOf(object) ?? "nobody";
    const isWanted = owned.some((one) => one.name === name);
    const isLeft = !isWanted && ending.cast.get(owner)?.prune === true;
    if (isLeft && !isLeftToSibling(name, owner, world, ending))
      violate(`${name} was left behind with the labels of ${owner}`);
  }
  for (const { name, owner } of owned) {
    const object = live.find(({ metadata }) => metadata.name === name);
    if (object === undefined) violate(`${name} is missing, and ${owner} wants it`);
    else if (ownerOf(object) !== owner) violate(`${name} is ${owner}'s and has the labels of ${ownerOf(object)}`);
  }
}

/**
 * What ADR 0015 does not cover: an owner that is gone has left it to another of its source that was about to have it, and
 * changed its mind.
 */
function isLeftToSibling(name: string, owner: string, world: OwnershipWorld, { cast, published }: Ending): boolean {
  const { removals } = world;
  const source = cast.get(owner)?.source;
  const pushes = published.filter((push) => push.source === source);
  return removals
    .filter((removal) => removal.name === owner)
    .some(({ at }) => {
      const first = pushes.findLastIndex((push) => push.at <= at);
      const seen = pushes.slice(Math.max(0, first));
      return seen.some(({ content }) =>
        Object.entries(content).some(([sibling, names]) => sibling !== owner && names.includes(name)),
      );
    });
}

async function judgeOwner(
  owner: string,
  world: OwnershipWorld,
  { wanted, cast }: Ending,
  violate: (what: string) => void,
): Promise<void> {
  const kustomization = world.kustomization(owner);
  const listeners = await world.listeners(cast.get(owner)?.source ?? "");
  if (kustomization === undefined) {
    if (listeners.includes(owner)) violate(`${owner} is deleted and still has a subscription to its source`);
    return;
  }
  const { uid, deletionTimestamp } = kustomization.metadata;
  if (deletionTimestamp !== undefined) violate(`${owner} is not rid of its finalizer`);
  if (!listeners.includes(owner)) violate(`${owner} has no subscription to its source`);
  const entries = (await world.inventory(owner, uid)) ?? [];
  const has = entries.filter(({ state }) => state !== "retained").map(({ id }) => id);
  const expected = (wanted[owner] ?? []).map(idOf);
  if (has.toSorted().join() !== expected.toSorted().join())
    violate(`the inventory of ${owner} has ${listed(has)}, expected: ${listed(expected)}`);
}

function claimantOf(owner: string, uid: string, world: OwnershipWorld): string {
  const name = owner.split("/").at(-1) ?? "";
  return world.kustomization(name)?.metadata.uid === uid ? name : `${name} (deleted)`;
}

function listed(names: readonly string[]): string {
  return names.join(" and ") || "nobody";
}

function idOf(name: string): string {
  return formatEntryId(refOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace } }));
}
