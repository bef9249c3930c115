import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../lib/core/digest.ts";
import type { Fence } from "../../lib/core/ports/fence.ts";
import type { InventoryEntry } from "../../lib/core/ports/inventory-store.ts";
import type { Claim } from "../../lib/core/ports/ledger.ts";
import { interruption, keyOf, leased, never, type OpenState, type StateBackEnd, workItem } from "./state-back-end.ts";

const cluster = "cluster-uid";
const owner = { uid: "uid", clusterUid: cluster };

/** Calls whose caller gives up once a part is written: what is there is whole as far as it goes, and the same call completes it. */
export function interruptedCallsContract(name: string, open: OpenState): void {
  describe(`interrupted calls: ${name}`, () => {
    let state: StateBackEnd;
    let fence: Fence;
    beforeEach(async () => {
      state = await open();
      fence = await leased(state, keyOf("web"));
    });
    afterEach(() => state.close());

    /** Whether the call came to its end; else it ended because it was interrupted. */
    async function isDone(call: Promise<unknown>): Promise<boolean> {
      const end = await call.then(
        () => "done",
        (error: unknown) => error,
      );
      expect(["done", interruption]).toContain(end);
      return end === "done";
    }

    const ids = Array.from({ length: 2_000 }, (_, number) => `apps_cm-${number}__ConfigMap`);
    const claims = ids.map((id): Claim => ({ id, ownerUid: "a-uid", owner: "Kustomization/apps/a" }));
    const claimed = () => state.ledger.claims(cluster, ids, never);

    test("of two thousand claims the first ones are made, or all, and the same call makes the rest", async () => {
      const done = await isDone(state.ledger.claim(cluster, claims, fence, state.interruptedAfter(3)));
      const found = await claimed();
      expect(found.size).toBeGreaterThan(0);
      expect(found.size === claims.length).toBe(done);
      expect(found).toEqual(new Map(claims.slice(0, found.size).map((claim) => [claim.id, [claim]])));
      await state.ledger.claim(cluster, claims, fence, never);
      expect(await claimed()).toEqual(new Map(claims.map((claim) => [claim.id, [claim]])));
    });

    test("of two thousand claims the first ones are released, or all, and the same call releases the rest", async () => {
      await state.ledger.claim(cluster, claims, fence, never);
      const done = await isDone(state.ledger.release(cluster, "a-uid", ids, fence, state.interruptedAfter(3)));
      const { size: left } = await claimed();
      expect(left).toBeLessThan(claims.length);
      expect(left === 0).toBe(done);
      expect([...(await claimed()).keys()]).toEqual(ids.slice(ids.length - left));
      await state.ledger.release(cluster, "a-uid", ids, fence, never);
      expect(await claimed()).toEqual(new Map());
    });

    const before = entries(300, "before");
    const after = entries(20_000, "after");

    test.each([5, 11, 12])(
      "an inventory that grows to 20,000 entries is the old or the new one after %i writes, and the same call saves it",
      async (writes) => {
        await state.inventories.save(owner, before, fence, never);
        const done = await isDone(state.inventories.save(owner, after, fence, state.interruptedAfter(writes)));
        const found = (await state.inventories.load(owner, fence, never)) ?? [];
        expect(found).toEqual(done || found.length === after.length ? after : before);
        await state.inventories.save(owner, after, fence, never);
        expect(await state.inventories.load(owner, fence, never)).toEqual(after);
      },
    );

    test.each([1, 3])(
      "an inventory that shrinks from 20,000 entries is the old or the new one after %i writes, and so are later saves",
      async (writes) => {
        await state.inventories.save(owner, after, fence, never);
        const few = after.slice(0, 3);
        const done = await isDone(state.inventories.save(owner, few, fence, state.interruptedAfter(writes)));
        const found = (await state.inventories.load(owner, fence, never)) ?? [];
        expect(found).toEqual(done || found.length === few.length ? few : after);
        await state.inventories.save(owner, before, fence, never);
        expect(await state.inventories.load(owner, fence, never)).toEqual(before);
      },
    );

    test("an inventory that is being removed exists or not, and the same call removes it", async () => {
      await state.inventories.save(owner, after, fence, never);
      const done = await isDone(state.inventories.remove(owner, fence, state.interruptedAfter(1)));
      const found = await state.inventories.load(owner, fence, never);
      expect(found).toEqual(done || found === undefined ? undefined : after);
      await state.inventories.remove(owner, fence, never);
      expect(await state.inventories.load(owner, fence, never)).toBeUndefined();
    });

    const [old, wanted] = ["old", "new"].map((kind) => Array.from({ length: 250 }, (_, number) => `${kind}#${number}`));
    const heard = async (topics: readonly string[] = []): Promise<number> => {
      const all = await Promise.all(topics.map((what) => state.subscriptions.subscribers(what, never)));
      return all.filter((listeners) => listeners.length > 0).length;
    };

    test.each([
      { then: "the same call completes it", topics: wanted, isOld: false },
      { then: "subscribing to the former topics again undoes it", topics: old, isOld: true },
    ])("some new subscriptions of an object are made, or all, and $then", async ({ topics = [], isOld }) => {
      await state.subscriptions.subscribe(old ?? [], fence, never);
      await state.items.put(workItem(fence.key, { version: 2, token: fence.token }), never);
      const next = await leased(state, fence.key);
      const done = await isDone(state.subscriptions.subscribe(wanted ?? [], next, state.interruptedAfter(1)));
      const count = await heard(wanted);
      expect(count).toBeGreaterThan(0);
      expect(count === 250 && (await heard(old)) === 0).toBe(done);
      await state.subscriptions.subscribe(topics, next, never);
      expect([await heard(old), await heard(wanted)]).toEqual(isOld ? [250, 0] : [0, 250]);
    });

    test("some records that are not retained are removed, or all, but never a retained one", async () => {
      const { key } = fence;
      const digests = Array.from({ length: 120 }, (_, number) => digestOf(`artifact ${number}`));
      for (const digest of digests) await state.records.record(key, "uid", digest, fence, never);
      const kept = digests.slice(-2);
      await isDone(state.records.retain(key, "uid", kept, fence, state.interruptedAfter(1)));
      const left = async (): Promise<readonly string[]> => {
        const found = await Promise.all(digests.map((digest) => state.records.recorded(key, "uid", digest, never)));
        return digests.filter((_, index) => found[index]);
      };
      await state.records.retain(key, "uid", kept, fence, never);
      expect(await left()).toEqual(kept);
    });

    test("a work item is stored completely or not at all, and a reader sees which", async () => {
      const item = workItem(keyOf("db"), { requested: 7, carried: { step: 1 } });
      const done = await isDone(state.items.put(item, state.interruptedAfter(1)));
      const found = await state.items.get(item.key, never);
      expect(found).toEqual(done || found !== undefined ? item : undefined);
      const next = { ...item, version: (found?.version ?? 0) + 1 };
      expect(await state.items.put(next, never)).toBe("stored");
    });
  });
}

function entries(count: number, kind: string): readonly InventoryEntry[] {
  return Array.from({ length: count }, (_, number): InventoryEntry => {
    const id = `apps_${kind}-${number}__ConfigMap`;
    return { id, version: "v1", state: "live", uid: `uid-${number}`, fingerprint: digestOf(id) };
  });
}
