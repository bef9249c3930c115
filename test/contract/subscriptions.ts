import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/concurrency.ts";
import { type Follows, maxFollowsBytes, type Subscription } from "../../lib/core/follows.ts";
import { LeaseLost } from "../../lib/core/ports/fence.ts";
import type { WorkKey } from "../../lib/core/work-key.ts";
import { keyOf, leased, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

export function subscriptionsContract(name: string, open: OpenState): void {
  describe(`subscriptions: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const names = async (what: string): Promise<readonly string[]> =>
      (await state.subscriptions.subscribers(what, never)).map((key) => key.name);

    /** As a run that has just taken the lease. */
    const listen = async (listener: string, topics: readonly string[]): Promise<void> =>
      state.subscriptions.subscribe(topics, await leased(state, keyOf(listener)), never);

    test("a topic without subscriptions has no subscribers", async () => {
      expect(await state.subscriptions.subscribers("src#a", never)).toEqual([]);
    });

    test("a subscriber is found at once, with its complete key", async () => {
      await listen("web", ["src#a", "dep#b"]);
      expect(await state.subscriptions.subscribers("src#a", never)).toEqual([keyOf("web")]);
      expect(await state.subscriptions.subscribers("dep#b", never)).toEqual([keyOf("web")]);
    });

    test("subscribers are sorted by their keys", async () => {
      for (const listener of ["web", "db", "cache"]) await listen(listener, ["src#a"]);
      expect(await names("src#a")).toEqual(["cache", "db", "web"]);
    });

    test("subscribing again replaces the subscriptions of the key and keeps those of others", async () => {
      await listen("web", ["src#a", "src#b"]);
      await listen("db", ["src#a"]);
      await listen("web", ["src#b", "src#c"]);
      expect(await names("src#a")).toEqual(["db"]);
      expect(await names("src#b")).toEqual(["web"]);
      expect(await names("src#c")).toEqual(["web"]);
    });

    test("subscribing twice, or naming a topic twice, gives one subscription", async () => {
      await listen("web", ["src#a", "src#a"]);
      await listen("web", ["src#a"]);
      expect(await names("src#a")).toEqual(["web"]);
    });

    describe("the part of a topic that a subscriber follows", () => {
      const v1: Follows = { kind: "names", names: ["v1"] };
      const range: Follows = { kind: "range", semver: ">=1.0", filter: "^v" };
      const followed = async (topic: string) =>
        (await state.subscriptions.followers(topic, never)).map(({ key, follows }) => ({ name: key.name, follows }));
      const follow = async (listener: string, subscriptions: readonly Subscription[]): Promise<void> =>
        state.subscriptions.subscribe(subscriptions, await leased(state, keyOf(listener)), never);

      test("is returned with each follower, and is everything if none is named", async () => {
        await follow("web", [{ topic: "repo#a", follows: v1 }]);
        await follow("db", [{ topic: "repo#a", follows: range }, "src#b"]);
        await follow("cache", ["repo#a"]);
        expect(await followed("repo#a")).toEqual([
          { name: "cache", follows: undefined },
          { name: "db", follows: range },
          { name: "web", follows: v1 },
        ]);
        expect(await names("repo#a")).toEqual(["cache", "db", "web"]);
        expect(await followed("src#b")).toEqual([{ name: "db", follows: undefined }]);
      });

      test("can change from one part to another and to everything, without ending the subscription", async () => {
        await follow("web", [{ topic: "repo#a", follows: v1 }]);
        await follow("web", [{ topic: "repo#a", follows: range }]);
        expect(await followed("repo#a")).toEqual([{ name: "web", follows: range }]);
        await follow("web", ["repo#a"]);
        expect(await followed("repo#a")).toEqual([{ name: "web", follows: undefined }]);
        await follow("web", [{ topic: "repo#a", follows: v1 }]);
        expect(await followed("repo#a")).toEqual([{ name: "web", follows: v1 }]);
        await follow("web", []);
        expect(await followed("repo#a")).toEqual([]);
      });

      test("is everything if a topic is named twice with different parts, or if the parts do not fit in a row", async () => {
        const long = (bytes: number): Follows => ({
          kind: "names",
          names: ["x".repeat(bytes - '{"kind":"names","names":[""]}'.length)],
        });
        const [most, many] = [long(maxFollowsBytes), long(maxFollowsBytes + 1)];
        await follow("web", [
          { topic: "repo#a", follows: v1 },
          { topic: "repo#a", follows: range },
          { topic: "repo#b", follows: v1 },
          { topic: "repo#b", follows: v1 },
          { topic: "repo#c", follows: many },
          { topic: "repo#d", follows: most },
        ]);
        expect(await followed("repo#a")).toEqual([{ name: "web", follows: undefined }]);
        expect(await followed("repo#b")).toEqual([{ name: "web", follows: v1 }]);
        expect(await followed("repo#c")).toEqual([{ name: "web", follows: undefined }]);
        expect(await followed("repo#d")).toEqual([{ name: "web", follows: most }]);
      });

      test("changes for three hundred topics at once, and all changes are kept", async () => {
        const topics = Array.from({ length: 300 }, (_, number) => `repo#${"x".repeat(1_000)}${number}`);
        const fence = await leased(state, keyOf("web"));
        const all = (follows: Follows) => topics.map((topic) => ({ topic, follows }));
        await state.subscriptions.subscribe(all(v1), fence, never);
        await state.subscriptions.subscribe([...all(range).slice(1), "src#a"], fence, never);
        expect(await followed(topics[0] ?? "")).toEqual([]);
        expect(await followed(topics[1] ?? "")).toEqual([{ name: "web", follows: range }]);
        expect(await followed(topics[299] ?? "")).toEqual([{ name: "web", follows: range }]);
        expect(await names("src#a")).toEqual(["web"]);
      });

      test("is not changed by a run that lost its lease", async () => {
        const late = await leased(state, keyOf("web"));
        await state.subscriptions.subscribe([{ topic: "repo#a", follows: v1 }], late, never);
        await leased(state, keyOf("web"));
        await expect(state.subscriptions.subscribe(["repo#a"], late, never)).rejects.toThrow(LeaseLost);
        expect(await followed("repo#a")).toEqual([{ name: "web", follows: v1 }]);
      });
    });

    test("subscribing to no topic ends all subscriptions", async () => {
      await listen("web", ["src#a"]);
      await listen("web", []);
      expect(await names("src#a")).toEqual([]);
    });

    test("a run that lost its lease does not change the subscriptions of its successor", async () => {
      const late = await leased(state, keyOf("web"));
      await state.subscriptions.subscribe(["src#old"], late, never);
      const successor = await leased(state, keyOf("web"));
      await state.subscriptions.subscribe(["src#new"], successor, never);
      await expect(state.subscriptions.subscribe(["src#old"], late, never)).rejects.toThrow(LeaseLost);
      await expect(state.subscriptions.subscribe([], late, never)).rejects.toThrow(LeaseLost);
      expect(await names("src#new")).toEqual(["web"]);
      expect(await names("src#old")).toEqual([]);
      await state.subscriptions.subscribe(["src#new", "dep#b"], successor, never);
      expect(await names("dep#b")).toEqual(["web"]);
    });

    test("an object without a work item cannot subscribe", async () => {
      const fence = { key: keyOf("web"), token: 1 };
      await expect(state.subscriptions.subscribe(["src#a"], fence, never)).rejects.toThrow(LeaseLost);
      expect(await names("src#a")).toEqual([]);
    });

    test("a topic is matched literally, without wildcards and prefixes", async () => {
      await listen("web", ["repo#127.0.0.1:5000/a_b"]);
      expect(await names("repo#127.0.0.1:5000/a%")).toEqual([]);
      expect(await names("repo#127.0.0.1:5000/a")).toEqual([]);
      expect(await names("repo#127.0.0.1:5000/A_B")).toEqual([]);
    });

    test("a topic of any length is stored completely, and three hundred of them can change at once", async () => {
      const topics = Array.from({ length: 300 }, (_, number) => `git#https://host/${"x".repeat(2_500)}/${number}`);
      const long = { ...keyOf("n".repeat(253)), cluster: "c".repeat(253), namespace: "s".repeat(253) };
      const fence = await leased(state, long);
      await state.subscriptions.subscribe(topics, fence, never);
      expect(await state.subscriptions.subscribers(topics[299] ?? "", never)).toEqual([long]);
      await state.subscriptions.subscribe(["src#a", ...topics.slice(150)], fence, never);
      expect(await state.subscriptions.subscribers(topics[0] ?? "", never)).toEqual([]);
      expect(await state.subscriptions.subscribers(topics[150] ?? "", never)).toEqual([long]);
      expect(await state.subscriptions.subscribers("src#a", never)).toEqual([long]);
    });

    test("a call under an aborted signal changes no subscription", async () => {
      const stopped = AbortSignal.abort(new Error("time is up"));
      const fence = await leased(state, keyOf("web"));
      await state.subscriptions.subscribe(["src#a"], fence, never);
      await expect(state.subscriptions.subscribe(["src#b"], fence, stopped)).rejects.toThrow("time is up");
      await expect(state.subscriptions.subscribers("src#a", stopped)).rejects.toThrow("time is up");
      expect([await names("src#a"), await names("src#b")]).toEqual([["web"], []]);
    });

    test("sixty subscribers of one topic are all found", async () => {
      const keys = Array.from({ length: 60 }, (_, number) => keyOf(`app-${number}`));
      const subscribeTo = async (key: WorkKey, stop: AbortSignal): Promise<void> =>
        state.subscriptions.subscribe(["src#a"], await leased(state, key), stop);
      await mapLimit(keys, 10, subscribeTo, never);
      expect(await state.subscriptions.subscribers("src#a", never)).toHaveLength(60);
    });
  });
}
