import { describe, expect, test } from "vitest";
import { kustomizeGroup, ownerLabels } from "../../../../lib/api/names.ts";
import { decidePrune } from "../../../../lib/apply/prune/decide-prune.ts";
import { gatherFacts } from "../../../../lib/apply/prune/gather-facts.ts";
import { prune } from "../../../../lib/apply/prune/prune.ts";
import { formatEntryId } from "../../../../lib/apply/set/entry-id.ts";
import { maxLooks } from "../../../../lib/apply/set/preconditions.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { type PruneWorld, pruneWorld } from "./prune-world.ts";
import { owner, ref } from "./sample-facts.ts";

const { signal } = new AbortController();
const x = ref("x");
const id = formatEntryId(x);
const namespace = ref("t", { kind: "Namespace", namespace: "" });
const ours = ownerLabels(owner);
const theirs = ownerLabels({ name: "b", namespace: "team" });
const nextOwner = "Kustomization/team/b";

/** Another Kustomization that claims `x`. */
function claim(world: PruneWorld, state: "alive" | "deleting" = "alive"): void {
  world.claims.set(id, [...(world.claims.get(id) ?? []), { id, ownerUid: "uid-b", owner: nextOwner }]);
  world.states.set("uid-b", state);
}

const annotated = { annotations: { [`${kustomizeGroup}/prune`]: "disabled" } };

describe("a prune", () => {
  test("reads and writes nothing if nothing is unwanted", async () => {
    const world = pruneWorld([x], ours);
    const result = await prune({ ...world.order, wanted: [{ ref: x }] }, world.set, signal);
    expect(result).toEqual({ pruned: [], refusals: [], inventory: world.order.inventory });
    expect(world.done).toEqual([]);
  });

  test("saves entries that may be removed before the first delete, and ends claims before it saves the inventory", async () => {
    const world = pruneWorld([x], ours);
    await prune(world.order, world.set, signal);
    expect(world.done).toEqual(["ownersAround", `save ${id} planned`, `delete ${id}`, `release ${id}`, "save "]);
  });

  test("keeps its claim on an object that a finalizer holds, which is ours until it is gone", async () => {
    const world = pruneWorld([x], ours);
    const cluster = { ...world.set.cluster, delete: async () => "deleting" as const };
    const { inventory } = await prune(world.order, { ...world.set, cluster }, signal);
    expect(inventory).toMatchObject([{ id, state: "deleting" }]);
    expect(world.done).not.toContain(`release ${id}`);
  });

  test("uses the facts from right before the first delete", async () => {
    const world = pruneWorld([x], ours);
    world.before = (what) => {
      if (what === `save ${id} planned`) world.change(x, annotated);
    };
    const live = new Map([
      [id, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...world.metadata(x), name: "x", uid: "uid-x" } }],
    ]);
    const { pruned, inventory } = await prune({ ...world.order, live }, world.set, signal);
    expect(world.metadata(x)).toBeDefined();
    expect(pruned).toMatchObject([{ kind: "skipped", isMarked: true }]);
    expect(inventory).toMatchObject([{ state: "retained" }]);
  });

  test("decides again about an object that changed during its delete, and about all that remain", async () => {
    const world = pruneWorld([namespace, x], ours);
    const meanwhile = () => world.change(x, annotated);
    world.before = (what) => {
      if (what === `delete ${id}`) meanwhile();
    };
    const { pruned, refusals, inventory } = await prune(world.order, world.set, signal);
    // The first decision would have deleted the namespace, and with it an object that has just been protected.
    expect(refusals).toEqual([
      "Namespace/t prune refused: it would also delete objects that are still wanted: " +
        "ConfigMap/t/x (kustomize.toolkit.fluxcd.io/prune: disabled on the object in the cluster); put it back, " +
        "take that out too, or annotate it with kustomize.toolkit.fluxcd.io/prune: disabled to keep it",
    ]);
    expect(pruned).toEqual([]);
    expect(world.metadata(namespace)).toBeDefined();
    expect(inventory.map((entry) => entry.state)).toEqual(["live", "live"]);
    expect(world.claims.get(id)).toHaveLength(1);
  });

  test("reads an object a few times if another client keeps writing it, then reports that", async () => {
    const world = pruneWorld([x], ours);
    world.before = (what) => {
      if (what === `delete ${id}`) world.change(x, {});
    };
    const { pruned, inventory } = await prune(world.order, world.set, signal);
    const message = "ConfigMap/t/x delete failed: the object has been modified";
    expect(pruned).toMatchObject([{ kind: "refused", message }]);
    expect(inventory).toEqual(world.order.inventory);
    expect(world.done.filter((what) => what === `delete ${id}`)).toHaveLength(maxLooks);
  });

  test("deletes in reverse apply order, kind by kind", async () => {
    const deployment = ref("d", { group: "apps", kind: "Deployment" });
    const world = pruneWorld([namespace, x, ref("y"), deployment], ours);
    await prune(world.order, world.set, signal);
    expect(world.done.filter((what) => what.startsWith("delete"))).toEqual([
      "delete t_d_apps_Deployment",
      "delete t_y__ConfigMap",
      "delete t_x__ConfigMap",
      "delete _t__Namespace",
    ]);
  });

  test("does not delete an object again that a finalizer holds, and keeps its claim", async () => {
    const world = pruneWorld([x], ours);
    world.change(x, { finalizers: ["example.com/hold"] });
    const { pruned, inventory } = await prune(world.order, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "deleted", held: true }]);
    expect(inventory).toMatchObject([{ id, state: "deleting" }]);
    await prune({ ...world.order, inventory, saved: inventory }, world.set, signal);
    expect(world.done.filter((what) => what.startsWith("delete"))).toHaveLength(1);
    expect(world.claims.get(id)).toHaveLength(1);
  });

  test("saves the applied objects before it reads anything, so that an outage loses no fingerprints", async () => {
    const world = pruneWorld([x, ref("new")], ours);
    const planned = decidePrune(await gatherFacts(world.order, world.set, signal)).filter(
      ({ entry }) => entry.id === id,
    );
    const inventory = world.order.inventory.map((entry) => ({ ...entry, fingerprint: "f" }));
    world.before = (what) => {
      if (what === "ownersAround") throw new Error("no answer");
    };
    await expect(prune({ ...world.order, inventory, planned }, world.set, signal)).rejects.toThrow("no answer");
    expect(world.saved).toMatchObject([
      { id, state: "planned", fingerprint: "f" },
      { state: "live", fingerprint: "f" },
    ]);
  });

  test("never deletes an object that was recreated since it was checked", async () => {
    const world = pruneWorld([x], ours);
    world.before = (what) => {
      if (what === `delete ${id}`) world.change(x, { uid: "anew", managedFields: [] });
    };
    const { pruned } = await prune(world.order, world.set, signal);
    expect(world.metadata(x)?.uid).toBe("anew");
    expect(pruned).toMatchObject([{ kind: "skipped", why: "another client created an object with this name" }]);
  });
});

describe("an object that is handed over", () => {
  test("stays in the inventory, claimed, until it has its next owner's labels; the next owner is woken once", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    const { pruned, inventory } = await prune(world.order, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "pending" }]);
    expect(inventory).toMatchObject([{ id, state: "planned", uid: "uid-x" }]);
    expect(world.claims.get(id)).toHaveLength(2);
    await prune({ ...world.order, inventory, saved: inventory }, world.set, signal);
    expect(world.done.filter((what) => what.startsWith("wake"))).toEqual([`wake ${nextOwner}`]);
    expect(world.done.join()).not.toMatch(/delete|patch|release/);
  });

  test("stays if its next owner claims it while the expected objects are read", async () => {
    const world = pruneWorld([x], ours);
    world.before = (what) => {
      if (what === "ownersAround" && world.states.size === 0) claim(world);
    };
    const { pruned } = await prune(world.order, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "pending" }]);
    expect(world.metadata(x)).toBeDefined();
  });

  test("is decided again after the subscription to its next owner, so that no release is missed", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    world.before = (what) => {
      if (what === `subscribe ${nextOwner}`) world.claims.set(id, []);
    };
    const { pruned } = await prune(world.order, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "deleted" }]);
    expect(world.done.filter((what) => what.startsWith("subscribe"))).toEqual([`subscribe ${nextOwner}`]);
  });

  test("leaves the inventory with the next owner's labels, and subscribers are woken when our claim ends", async () => {
    const world = pruneWorld([x], theirs);
    claim(world);
    const { pruned, inventory } = await prune(world.order, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "skipped", isMarked: false }]);
    expect(inventory).toEqual([]);
    expect(world.done.slice(-3)).toEqual([`release ${id}`, "announce release", "save "]);
  });

  test("is ours again if a terminating next owner gave it back right before our claim ended", async () => {
    const world = pruneWorld([x], theirs);
    claim(world, "deleting");
    world.before = (what) => {
      // As the other's end does it: it saw our claim.
      if (what === `release ${id}` && world.metadata(x)?.labels === theirs) world.change(x, { labels: ours });
    };
    const { pruned } = await prune(world.order, world.set, signal);
    expect(world.done).toContain(`claim ${id}`);
    expect(pruned).toMatchObject([{ kind: "deleted" }]);
    expect(world.metadata(x)).toBeUndefined();
  });

  test("is ours again if a deleted owner gave it back after the check and ended its claim before the claims were read", async () => {
    const world = pruneWorld([x], theirs);
    world.before = (what) => {
      if (what === `release ${id}` && world.metadata(x)?.labels === theirs) world.change(x, { labels: ours });
    };
    const { pruned } = await prune(world.order, world.set, signal);
    expect(world.done).toContain(`claim ${id}`);
    expect(pruned).toMatchObject([{ kind: "deleted" }]);
    expect(world.metadata(x)).toBeUndefined();
  });

  test("is ours again, and owners that wait for another object are still woken", async () => {
    const y = ref("y");
    const world = pruneWorld([x, y], theirs);
    claim(world, "deleting");
    // Kept with the labels of one that does not exist, and claimed by another that lives on.
    world.claims.set(formatEntryId(y), [
      ...(world.claims.get(formatEntryId(y)) ?? []),
      { id: formatEntryId(y), ownerUid: "uid-c", owner: "Kustomization/team/c" },
    ]);
    world.states.set("uid-c", "alive");
    world.before = (what) => {
      if (what.startsWith("release") && world.metadata(x)?.labels === theirs) world.change(x, { labels: ours });
    };
    await prune(world.order, world.set, signal);
    expect(world.metadata(x)).toBeUndefined();
    expect(world.metadata(y)).toBeDefined();
    expect(world.done).toContain("announce release");
  });

  test("gets its next owner's labels from a deleted owner", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    const { pruned } = await prune({ ...world.order, isFinalizing: true }, world.set, signal);
    expect(world.metadata(x)?.labels).toEqual(theirs);
    expect(pruned).toMatchObject([{ kind: "skipped", why: `${nextOwner} has it now` }]);
    expect(world.done.filter((what) => what.startsWith("wake"))).toEqual([`wake ${nextOwner}`]);
  });

  test("is not labelled by a deleted owner if its state differs from the checked one", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    world.before = (what) => {
      if (what === `patch ${id}`) world.change(x, annotated);
    };
    const { pruned } = await prune({ ...world.order, isFinalizing: true }, world.set, signal);
    expect(world.metadata(x)?.labels).toEqual(ours);
    expect(pruned).toMatchObject([{ kind: "skipped", isMarked: true }]);
  });

  test("is deleted by a deleted owner if the next owner has released it meanwhile", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    world.before = (what) => {
      if (what === `patch ${id}`) world.claims.set(id, []);
    };
    const { pruned } = await prune({ ...world.order, isFinalizing: true }, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "deleted" }]);
    expect(world.metadata(x)).toBeUndefined();
  });

  test("is deleted by a deleted owner if the next owner has released it while another client writes it", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    let patches = 0;
    world.before = (what) => {
      if (what !== `patch ${id}`) return;
      world.claims.set(id, []);
      // As a controller writes a status.
      if (++patches === 2) world.change(x, {});
    };
    const { pruned } = await prune({ ...world.order, isFinalizing: true }, world.set, signal);
    expect(pruned).toMatchObject([{ kind: "deleted" }]);
    expect(world.metadata(x)).toBeUndefined();
  });

  test("is left to the next owner by a deleted owner if its labels cannot be changed", async () => {
    const world = pruneWorld([x], ours);
    claim(world);
    world.before = (what) => {
      if (what === `patch ${id}`) throw new ApiError({ code: 403, reason: "Forbidden", message: "no" });
    };
    const result = await prune({ ...world.order, isFinalizing: true }, world.set, signal);
    const why = `${nextOwner} claims it, and its labels could not be put on it: no`;
    expect(result.pruned).toMatchObject([{ kind: "skipped", why }]);
    expect(world.metadata(x)).toBeDefined();
  });

  test.for([
    { code: 0, reason: "Unreachable" },
    { code: 429, reason: "TooManyRequests" },
    { code: 500, reason: "InternalError" },
  ])(
    "is kept by a deleted owner until the cluster accepts its next owner's labels: $reason",
    async ({ code, reason }) => {
      const world = pruneWorld([x], ours);
      claim(world);
      world.before = (what) => {
        if (what === `patch ${id}`) throw new ApiError({ code, reason, message: "no answer" });
      };
      const result = await prune({ ...world.order, isFinalizing: true }, world.set, signal);
      expect(result.pruned).toMatchObject([
        { kind: "refused", message: expect.stringContaining("hand over failed: no answer") },
      ]);
      expect(result.inventory).toHaveLength(1);
      expect(world.done).not.toContain(`release ${id}`);
    },
  );

  test("wakes owners that may wait for our claim to end when nothing is left to prune", async () => {
    const world = pruneWorld([x], theirs);
    claim(world);
    const { pruned, inventory } = await prune({ ...world.order, policy: "retain" }, world.set, signal);
    expect(pruned).toEqual([]);
    expect(inventory).toMatchObject([{ id, state: "retained" }]);
    expect(world.claims.get(id)).toHaveLength(1);
    expect(world.done).toEqual([`save ${id} planned`, `release ${id}`, "announce release", `save ${id} retained`]);
  });
});
