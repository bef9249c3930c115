import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Fence, LeaseLost } from "../../lib/core/ports/fence.ts";
import type { Claim } from "../../lib/core/ports/ledger.ts";
import { keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

const cluster = "cluster-uid";

function claim(id: string, owner: string): Claim {
  return { id, ownerUid: `${owner}-uid`, owner: `Kustomization/apps/${owner}` };
}

export function ledgerContract(name: string, open: OpenState): void {
  describe(`ledger: ${name}`, () => {
    let state: StateBackEnd;
    let a: Fence;
    let b: Fence;
    beforeEach(async () => {
      state = await open();
      a = await leased(state, keyOf("a"));
      b = await leased(state, keyOf("b"));
    });
    afterEach(() => state.close());

    test("an id without claims is not returned", async () => {
      await state.ledger.claim(cluster, [claim("x", "a")], a, never);
      expect(await state.ledger.claims(cluster, ["x", "y"], never)).toEqual(new Map([["x", [claim("x", "a")]]]));
    });

    test("the first claimant is the owner, and later ones follow in order", async () => {
      await state.ledger.claim(cluster, [claim("x", "b")], b, never);
      await state.ledger.claim(cluster, [claim("x", "a"), claim("y", "a")], a, never);
      expect(await state.ledger.claims(cluster, ["x", "y"], never)).toEqual(
        new Map([
          ["x", [claim("x", "b"), claim("x", "a")]],
          ["y", [claim("y", "a")]],
        ]),
      );
    });

    test("claiming again changes nothing, not even the order", async () => {
      await state.ledger.claim(cluster, [claim("x", "a")], a, never);
      await state.ledger.claim(cluster, [claim("x", "b")], b, never);
      await state.ledger.claim(cluster, [claim("x", "a")], a, never);
      expect((await state.ledger.claims(cluster, ["x"], never)).get("x")).toEqual([claim("x", "a"), claim("x", "b")]);
    });

    test("a released object passes to the next claimant", async () => {
      await state.ledger.claim(cluster, [claim("x", "a")], a, never);
      await state.ledger.claim(cluster, [claim("x", "b")], b, never);
      await state.ledger.release(cluster, "a-uid", ["x", "never-claimed"], a, never);
      expect((await state.ledger.claims(cluster, ["x"], never)).get("x")).toEqual([claim("x", "b")]);
    });

    test("releasing removes the claims of that owner in that cluster only", async () => {
      await state.ledger.claim(cluster, [claim("x", "a")], a, never);
      await state.ledger.claim("another", [claim("x", "a")], a, never);
      await state.ledger.release(cluster, "b-uid", ["x"], b, never);
      await state.ledger.release("another", "a-uid", ["x"], a, never);
      expect((await state.ledger.claims(cluster, ["x"], never)).get("x")).toEqual([claim("x", "a")]);
      expect(await state.ledger.claims("another", ["x"], never)).toEqual(new Map());
    });

    test("a successor's lease locks the former holder out, and none of its claims is written", async () => {
      await leased(state, keyOf("a"));
      await expect(state.ledger.claim(cluster, [claim("x", "a")], a, never)).rejects.toThrow(LeaseLost);
      await expect(state.ledger.release(cluster, "a-uid", ["x"], a, never)).rejects.toThrow(LeaseLost);
      expect(await state.ledger.claims(cluster, ["x"], never)).toEqual(new Map());
    });

    test("a call under an aborted signal claims nothing and releases nothing", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      await state.ledger.claim(cluster, [claim("x", "a")], a, never);
      await expect(state.ledger.claim(cluster, [claim("y", "a")], a, stopped)).rejects.toThrow("time is up");
      await expect(state.ledger.release(cluster, "a-uid", ["x"], a, stopped)).rejects.toThrow("time is up");
      await expect(state.ledger.claims(cluster, ["x"], stopped)).rejects.toThrow("time is up");
      const found = await state.ledger.claims(cluster, ["x", "y"], never);
      expect(found).toEqual(new Map([["x", [claim("x", "a")]]]));
    });

    test("a hundred owners can claim one object, all with the longest possible names", async () => {
      const long = "n".repeat(253);
      const id = [long, long, long, long].join("_");
      const wanting = Array.from({ length: 100 }, (_, number) => {
        const name = `${number}-${long}`.slice(0, 253);
        return { id, ownerUid: `${number}`.padStart(36, "0"), owner: `Kustomization/${long}/${name}` };
      });
      for (const one of wanting) await state.ledger.claim(cluster, [one], a, never);
      expect((await state.ledger.claims(cluster, [id], never)).get(id)).toEqual(wanting);
      const gone = wanting.slice(0, 10).map(({ ownerUid }) => ownerUid);
      for (const ownerUid of gone) await state.ledger.release(cluster, ownerUid, [id], a, never);
      expect((await state.ledger.claims(cluster, [id], never)).get(id)).toEqual(wanting.slice(10));
    });

    test("two thousand claims can be made and read in one call", async () => {
      const ids = Array.from({ length: 2_000 }, (_, number) => `apps_cm-${number}__ConfigMap`);
      await state.ledger.claim(
        cluster,
        ids.map((id) => claim(id, "a")),
        a,
        never,
      );
      expect((await state.ledger.claims(cluster, ids, never)).size).toBe(2_000);
    });
  });
}
