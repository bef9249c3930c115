import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry, InventoryOwner } from "../../lib/core/ports/inventory-store.ts";
import { keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

const owner: InventoryOwner = { uid: "uid-1", clusterUid: "cluster-1" };

function entry(id: string, fields: Partial<InventoryEntry> = {}): InventoryEntry {
  return { id, version: "v1", state: "live", ...fields };
}

function entries(count: number): InventoryEntry[] {
  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
  return Array.from({ length: count }, (_, number) =>
    entry(`apps_config-${number}__ConfigMap`, { uid: `uid-${number}`, desired: digest, fingerprint: digest }),
  );
}

export function inventoryStoreContract(name: string, open: OpenState): void {
  describe(`inventory: ${name}`, () => {
    let state: StateBackEnd;
    let fence: Fence;
    beforeEach(async () => {
      state = await open();
      fence = await leased(state, keyOf("web"));
    });
    afterEach(() => state.close());

    const load = (of = owner): Promise<readonly InventoryEntry[] | undefined> =>
      state.inventories.load(of, fence, never);
    const save = (saved: readonly InventoryEntry[], of = owner): Promise<void> =>
      state.inventories.save(of, saved, fence, never);

    test("an inventory that was never saved is undefined, one that was saved empty is empty", async () => {
      expect(await load()).toBeUndefined();
      await save([]);
      expect(await load()).toEqual([]);
    });

    test("entries come back with every field, in the order last saved", async () => {
      const saved = [
        entry("_ns__Namespace", { uid: "u", desired: "sha256:d", fingerprint: "sha256:f" }),
        entry("apps_b_apps_Deployment", { version: "v1beta1", state: "planned" }),
        entry("apps_a_apps_Deployment", { state: "deleting", uid: "u2" }),
        entry("apps_z__Secret", { state: "retained" }),
      ];
      await save(saved);
      expect(await load()).toEqual(saved);
      const reversed = saved.toReversed();
      await save(reversed);
      expect(await load()).toEqual(reversed);
    });

    test("a save replaces the whole inventory", async () => {
      await save([entry("a"), entry("b"), entry("c")]);
      await save([entry("d"), entry("b", { state: "deleting" })]);
      expect(await load()).toEqual([entry("d"), entry("b", { state: "deleting" })]);
    });

    test("an owner with another uid, or in another cluster, starts without an inventory and does not change the former's", async () => {
      await save([entry("a")]);
      const recreated = { ...owner, uid: "uid-2" };
      const elsewhere = { ...owner, clusterUid: "cluster-2" };
      expect(await load(recreated)).toBeUndefined();
      expect(await load(elsewhere)).toBeUndefined();
      await save([entry("b")], recreated);
      await state.inventories.remove(elsewhere, fence, never);
      expect(await load()).toEqual([entry("a")]);
      expect(await load(recreated)).toEqual([entry("b")]);
    });

    test("the owner's generation at the last save comes back, even if only the generation has changed", async () => {
      const under = (generation?: number): Promise<number | undefined> =>
        state.inventories.savedUnder(generation === undefined ? owner : { ...owner, generation }, fence, never);
      expect(await under()).toBeUndefined();
      for (const count of [1, 300]) {
        const saved = entries(count);
        for (const generation of [1, 2]) {
          await save(saved, { ...owner, generation });
          expect(await under(7)).toBe(generation);
        }
        expect(await load()).toEqual(saved);
        await save(saved);
        expect(await under()).toBeUndefined();
      }
    });

    test("the clusters in which an owner has an inventory are listed, without those of another uid", async () => {
      const clusters = async (uid = owner.uid) => (await state.inventories.clusters({ uid }, fence, never)).toSorted();
      expect(await clusters()).toEqual([]);
      await save([]);
      await save(entries(300), { ...owner, clusterUid: "unread:0123" });
      await save([entry("a")], { uid: "uid-2", clusterUid: "cluster-2" });
      expect(await clusters()).toEqual(["cluster-1", "unread:0123"]);
      expect(await clusters("uid-2")).toEqual(["cluster-2"]);
      await state.inventories.remove(owner, fence, never);
      expect(await clusters()).toEqual(["unread:0123"]);
    });

    test("a removed inventory reads as if never saved", async () => {
      await save(entries(300));
      await state.inventories.remove(owner, fence, never);
      expect(await load()).toBeUndefined();
      await state.inventories.remove(owner, fence, never);
      await save([entry("a")]);
      expect(await load()).toEqual([entry("a")]);
    });

    test("a successor's lease locks the former holder out and the inventory stays complete", async () => {
      await save(entries(300));
      await leased(state, keyOf("web"));
      await expect(save([])).rejects.toThrow(LeaseLost);
      await expect(state.inventories.remove(owner, fence, never)).rejects.toThrow(LeaseLost);
      expect(await load()).toEqual(entries(300));
    });

    test("a released lease can no longer write", async () => {
      const item = await state.items.get(keyOf("web"), never);
      if (item === undefined) throw new Error("the lease's item is missing");
      await state.items.put({ ...item, version: item.version + 1, lease: undefined }, never);
      await expect(save([entry("a")])).rejects.toThrow(LeaseLost);
    });

    test("a call under an aborted signal saves nothing and removes nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await save([entry("a")]);
      await expect(state.inventories.save(owner, [], fence, stopped)).rejects.toThrow("time is up");
      await expect(state.inventories.remove(owner, fence, stopped)).rejects.toThrow("time is up");
      await expect(state.inventories.load(owner, fence, stopped)).rejects.toThrow("time is up");
      expect(await load()).toEqual([entry("a")]);
    });

    test("entries with the longest names come back like others, however few fit on a page", async () => {
      const long = "n".repeat(250);
      const many = Array.from({ length: 1_000 }, (_, number) => entry(`${long}_${long}_${long}_${long}${number}`));
      await save(many);
      expect(await load()).toEqual(many);
      await save(many.slice(1));
      expect(await load()).toEqual(many.slice(1));
    });

    test("20,000 entries can grow, change in one place and shrink without losing their order", async () => {
      const all = entries(20_000);
      await save(all);
      expect(await load()).toEqual(all);
      const changed = all.with(10_000, entry("apps_new__ConfigMap"));
      await save(changed);
      expect(await load()).toEqual(changed);
      await save(changed.slice(9_999, 10_002));
      expect(await load()).toEqual(changed.slice(9_999, 10_002));
    });
  });
}
