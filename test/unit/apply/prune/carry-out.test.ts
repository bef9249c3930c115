import { describe, expect, test } from "vitest";
import { ownerLabels } from "../../../../lib/api/names.ts";
import { prune } from "../../../../lib/apply/prune/prune.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import { maxLooks } from "../../../../lib/apply/set/preconditions.ts";
import type { ObjectRef } from "../../../../lib/core/object-ref.ts";
import { ApiError, type Cluster } from "../../../../lib/core/ports/cluster.ts";
import { type PruneWorld, pruneWorld } from "./prune-world.ts";
import { handOverUpdate, ourApply, owner, ref } from "./sample-facts.ts";

const { signal } = new AbortController();
const [x, y] = [ref("x"), ref("y")];
const id = formatEntryId(x);
const ours = ownerLabels(owner);
const nextOwner = "Kustomization/team/b";
const finalizing = { isFinalizing: true } as const;

/** Another Kustomization that lives and claims this. */
function claim(world: PruneWorld, of: ObjectRef = x): void {
  const claimed = formatEntryId(of);
  world.claims.set(claimed, [
    ...(world.claims.get(claimed) ?? []),
    { id: claimed, ownerUid: "uid-b", owner: nextOwner },
  ]);
  world.states.set("uid-b", "alive");
}

function answering(world: PruneWorld, calls: Partial<Cluster>): PruneWorld["set"] {
  return { ...world.set, cluster: { ...world.set.cluster, ...calls } };
}

const forbidden = new ApiError({ code: 403, reason: "Forbidden", message: "not allowed" });

describe("a delete", () => {
  test("has preconditions on the checked object and its version, and deletes dependents in the background", async () => {
    const world = pruneWorld([x], ours);
    const asked: unknown[] = [];
    const set = answering(world, { delete: async (of, options) => (asked.push([of, options]), "deleted") });
    await prune(world.order, set, signal);
    expect(asked).toEqual([
      [
        { ...x, version: "v1" },
        { propagation: "Background", uid: "uid-x", resourceVersion: "1" },
      ],
    ]);
  });

  test("that is refused is reported, and the other deletes are still sent", async () => {
    const world = pruneWorld([x, y], ours);
    world.before = (what) => {
      if (what === `delete ${formatEntryId(y)}`) throw forbidden;
    };
    const { pruned, inventory } = await prune(world.order, world.set, signal);
    expect(pruned).toMatchObject([
      { kind: "refused", message: "ConfigMap/t/y delete failed: not allowed" },
      { kind: "deleted", entry: { id } },
    ]);
    expect(inventory.map((entry) => [entry.id, entry.state])).toEqual([[formatEntryId(y), "live"]]);
  });

  test("keeps an entry that a finalizer holds, or whose delete was requested before, which is not deleted again", async () => {
    const world = pruneWorld([x], ours);
    const held = await prune(world.order, answering(world, { delete: async () => "deleting" }), signal);
    expect(held).toMatchObject({ pruned: [{ kind: "deleted", held: true }], inventory: [{ id, state: "deleting" }] });
    world.change(x, { deletionTimestamp: "2026-01-01T00:00:00Z" });
    const again = await prune({ ...world.order, inventory: held.inventory, saved: held.inventory }, world.set, signal);
    expect(again).toMatchObject({ pruned: [{ kind: "deleted", held: true }], inventory: [{ id, state: "deleting" }] });
    expect(world.done.filter((what) => /delete|release/.test(what))).toEqual([]);
  });

  test("is not sent for a missing object, which loses its entry and claim", async () => {
    const world = pruneWorld([x], ours);
    const { pruned, inventory } = await prune(world.order, answering(world, { get: async () => undefined }), signal);
    expect(pruned).toMatchObject([{ kind: "deleted", held: false }]);
    expect(inventory).toEqual([]);
    expect(world.done).toEqual(["ownersAround", `save ${id} planned`, `release ${id}`, "save "]);
  });

  test("is not sent for an object that cannot be read, which is kept with the reason", async () => {
    const world = pruneWorld([x], ours);
    const set = answering(world, { get: () => Promise.reject(forbidden) });
    const { pruned, inventory } = await prune(world.order, set, signal);
    expect(pruned).toMatchObject([{ kind: "refused", message: "ConfigMap/t/x query failed: not allowed" }]);
    expect(inventory).toEqual(world.order.inventory);
    expect(world.done).toEqual(["ownersAround"]);
  });

  test.each(["delete", "patch"])("whose %s gets no answer of the API server ends the run", async (call) => {
    const world = pruneWorld([x], ours);
    if (call === "patch") claim(world);
    const lost = new Error("lease lost");
    world.before = (what) => {
      if (what === `${call} ${id}`) throw lost;
    };
    await expect(prune({ ...world.order, isFinalizing: call === "patch" }, world.set, signal)).rejects.toBe(lost);
  });
});

describe("an object that a deleted owner hands over", () => {
  test("gets the new labels with a precondition on the checked version, by our field manager", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    const asked: unknown[] = [];
    const { cluster } = world.set;
    const set = answering(world, {
      patch: (of, body, options, stop) => (asked.push([of, body, options]), cluster.patch(of, body, options, stop)),
    });
    await prune({ ...world.order, ...finalizing }, set, signal);
    const labels = ownerLabels({ name: "b", namespace: "team" });
    expect(asked).toEqual([
      [
        { ...x, version: "v1" },
        { type: "merge", body: { metadata: { labels, resourceVersion: "1" } } },
        { manager: "kustomize-controller" },
      ],
    ]);
  });

  test("loses its entry if it is missing when the labels are written", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    let isGone = false;
    const set = answering(world, {
      get: async (of, stop) => (isGone ? undefined : world.set.cluster.get(of, stop)),
      patch: () => {
        isGone = true;
        return Promise.reject(new ApiError({ code: 404, reason: "NotFound", message: "not found" }));
      },
    });
    const { pruned, inventory } = await prune({ ...world.order, ...finalizing }, set, signal);
    expect(pruned).toMatchObject([{ kind: "deleted", held: false }]);
    expect(inventory).toEqual([]);
  });

  test.each([
    { name: "that another client keeps writing", reason: "Conflict", code: 409 },
    { name: "whose patch keeps being answered as if the object did not exist", reason: "NotFound", code: 404 },
  ] as const)("$name keeps its entry for a later run", async ({ reason, code }) => {
    const world = pruneWorld([x], ours);
    claim(world);
    let patches = 0;
    const set = answering(world, {
      patch: () => {
        patches++;
        return Promise.reject(new ApiError({ code, reason, message: "the object has been modified" }));
      },
    });
    const { pruned, inventory } = await prune({ ...world.order, ...finalizing }, set, signal);
    const message = "ConfigMap/t/x hand over failed: the object has been modified";
    expect(pruned).toMatchObject([{ kind: "refused", message }]);
    expect(inventory).toHaveLength(1);
    expect(patches).toBe(maxLooks);
  });

  test("stays ours, with the reason, if its next owner keeps releasing it", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    const claimed = world.claims.get(id) ?? [];
    let patches = 0;
    world.before = (what) => {
      // Its claim ends when it gets the labels, and is back before the next read.
      if (what === `patch ${id}`) world.claims.set(id, (patches += 1) % 2 === 1 ? [] : claimed);
    };
    const { pruned, inventory } = await prune({ ...world.order, ...finalizing }, world.set, signal);
    expect(pruned).toMatchObject([
      { kind: "refused", message: `ConfigMap/t/x hand over failed: ${nextOwner} releases it again and again` },
    ]);
    expect(world.metadata(x)?.labels).toEqual(ours);
    expect(inventory).toHaveLength(1);
    expect(patches).toBe(2 * maxLooks);
  });

  test.each([
    { name: "403", error: forbidden, message: "not allowed" },
    {
      name: "a conflict each time",
      error: new ApiError({ code: 409, reason: "Conflict", message: "modified" }),
      message: "modified",
    },
  ])("keeps entry and claim if its labels cannot be restored: $name", async ({ error, message }) => {
    const world = pruneWorld([x], ours);
    claim(world);
    let patches = 0;
    world.before = (what) => {
      if (what !== `patch ${id}`) return;
      if (++patches > 1) throw error;
      world.claims.set(id, (world.claims.get(id) ?? []).slice(0, 1));
    };
    const { pruned, inventory } = await prune({ ...world.order, ...finalizing }, world.set, signal);
    expect(pruned).toMatchObject([
      {
        kind: "refused",
        message: `ConfigMap/t/x hand over failed: it has the labels of ${nextOwner}, which may no longer claim it: ${message}`,
      },
    ]);
    expect(inventory).toEqual(world.order.inventory);
    expect(world.claims.get(id)).toMatchObject([{ ownerUid: "uid-app" }]);
  });

  test("keeps entry and claim if its next owner cannot be read after the labels were written", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    const stateOf: typeof world.set.others.stateOf = async (of, stop) => {
      if (world.done.includes(`patch ${id}`)) throw forbidden;
      return world.set.others.stateOf(of, stop);
    };
    const set = { ...world.set, others: { ...world.set.others, stateOf } };
    const { pruned, inventory } = await prune({ ...world.order, ...finalizing }, set, signal);
    expect(pruned).toMatchObject([{ kind: "refused" }]);
    expect(inventory).toEqual(world.order.inventory);
    expect(world.done).not.toContain(`release ${id}`);
  });

  test("is skipped in the next run if its labels could not be restored: the ledger alone does not make it ours", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    let patches = 0;
    world.before = (what) => {
      if (what !== `patch ${id}`) return;
      if (++patches > 1) throw forbidden;
      world.claims.set(id, (world.claims.get(id) ?? []).slice(0, 1));
    };
    await prune({ ...world.order, ...finalizing }, world.set, signal);
    world.before = () => {};
    world.change(x, { managedFields: [ourApply, handOverUpdate] });
    const { pruned, inventory } = await prune({ ...world.order, ...finalizing }, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "skipped", why: "its owner labels name another owner" }]);
    expect(inventory).toEqual([]);
    expect(world.metadata(x)).toBeDefined();
  });

  test("is one of several, and their next owner is woken once", async () => {
    const world = pruneWorld([x, y], ours);
    claim(world);
    claim(world, y);
    await prune({ ...world.order, ...finalizing }, world.set, signal);
    expect(world.done.filter((what) => what.startsWith("wake"))).toEqual([`wake ${nextOwner}`]);
  });
});

test("a deleted owner with the policy retain saves no inventory", async () => {
  const world = pruneWorld([x], ours);
  await prune({ ...world.order, ...finalizing, policy: "retain" }, world.set, signal);
  expect(world.done).toEqual([`release ${id}`]);
});
