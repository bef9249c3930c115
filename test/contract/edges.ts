import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/map-limit.ts";
import { LeaseLost } from "../../lib/core/ports/fence.ts";
import type { WorkKey } from "../../lib/core/work-key.ts";
import { keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

export function edgesContract(name: string, open: OpenState): void {
  describe(`edges: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const names = async (what: string): Promise<readonly string[]> =>
      (await state.edges.listeners(what, never)).map((key) => key.name);

    /** As a run that has just taken the lease. */
    const listen = async (listener: string, whats: readonly string[]): Promise<void> =>
      state.edges.listen(whats, await leased(state, keyOf(listener)), never);

    test("nobody listens to what nobody asked for", async () => {
      expect(await state.edges.listeners("src#a", never)).toEqual([]);
    });

    test("a listener is heard of at once, by its whole key", async () => {
      await listen("web", ["src#a", "dep#b"]);
      expect(await state.edges.listeners("src#a", never)).toEqual([keyOf("web")]);
      expect(await state.edges.listeners("dep#b", never)).toEqual([keyOf("web")]);
    });

    test("listeners come in the order of their keys", async () => {
      for (const listener of ["web", "db", "cache"]) await listen(listener, ["src#a"]);
      expect(await names("src#a")).toEqual(["cache", "db", "web"]);
    });

    test("listening anew replaces what the key listened to and leaves the others alone", async () => {
      await listen("web", ["src#a", "src#b"]);
      await listen("db", ["src#a"]);
      await listen("web", ["src#b", "src#c"]);
      expect(await names("src#a")).toEqual(["db"]);
      expect(await names("src#b")).toEqual(["web"]);
      expect(await names("src#c")).toEqual(["web"]);
    });

    test("listening twice, and naming one thing twice, is listening once", async () => {
      await listen("web", ["src#a", "src#a"]);
      await listen("web", ["src#a"]);
      expect(await names("src#a")).toEqual(["web"]);
    });

    test("listening to nothing ends it", async () => {
      await listen("web", ["src#a"]);
      await listen("web", []);
      expect(await names("src#a")).toEqual([]);
    });

    test("a run whose lease was taken over changes nothing of what its successor listens to", async () => {
      const late = await leased(state, keyOf("web"));
      await state.edges.listen(["src#old"], late, never);
      const successor = await leased(state, keyOf("web"));
      await state.edges.listen(["src#new"], successor, never);
      await expect(state.edges.listen(["src#old"], late, never)).rejects.toThrow(LeaseLost);
      await expect(state.edges.listen([], late, never)).rejects.toThrow(LeaseLost);
      expect(await names("src#new")).toEqual(["web"]);
      expect(await names("src#old")).toEqual([]);
      await state.edges.listen(["src#new", "dep#b"], successor, never);
      expect(await names("dep#b")).toEqual(["web"]);
    });

    test("nobody listens for an object without a work item", async () => {
      const fence = { key: keyOf("web"), token: 1 };
      await expect(state.edges.listen(["src#a"], fence, never)).rejects.toThrow(LeaseLost);
      expect(await names("src#a")).toEqual([]);
    });

    test("a name of something is taken as it is, with no wildcard and no prefix", async () => {
      await listen("web", ["repo#127.0.0.1:5000/a_b"]);
      expect(await names("repo#127.0.0.1:5000/a%")).toEqual([]);
      expect(await names("repo#127.0.0.1:5000/a")).toEqual([]);
      expect(await names("repo#127.0.0.1:5000/A_B")).toEqual([]);
    });

    test("a name of any length is kept whole, and three hundred of them change at once", async () => {
      const whats = Array.from({ length: 300 }, (_, number) => `git#https://host/${"x".repeat(2_500)}/${number}`);
      const long = { ...keyOf("n".repeat(253)), cluster: "c".repeat(253), namespace: "s".repeat(253) };
      const fence = await leased(state, long);
      await state.edges.listen(whats, fence, never);
      expect(await state.edges.listeners(whats[299] ?? "", never)).toEqual([long]);
      await state.edges.listen(["src#a", ...whats.slice(150)], fence, never);
      expect(await state.edges.listeners(whats[0] ?? "", never)).toEqual([]);
      expect(await state.edges.listeners(whats[150] ?? "", never)).toEqual([long]);
      expect(await state.edges.listeners("src#a", never)).toEqual([long]);
    });

    test("a call under an aborted signal changes nothing of who listens", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      const fence = await leased(state, keyOf("web"));
      await state.edges.listen(["src#a"], fence, never);
      await expect(state.edges.listen(["src#b"], fence, stopped)).rejects.toThrow("time is up");
      await expect(state.edges.listeners("src#a", stopped)).rejects.toThrow("time is up");
      expect([await names("src#a"), await names("src#b")]).toEqual([["web"], []]);
    });

    test("sixty listeners of one thing are all heard of", async () => {
      const keys = Array.from({ length: 60 }, (_, number) => keyOf(`app-${number}`));
      const listenTo = async (key: WorkKey, stop: AbortSignal): Promise<void> =>
        state.edges.listen(["src#a"], await leased(state, key), stop);
      await mapLimit(keys, 10, listenTo, never);
      expect(await state.edges.listeners("src#a", never)).toHaveLength(60);
    });
  });
}
