import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mapLimit } from "../../lib/core/map-limit.ts";
import { keyOf, never, type OpenState, type StateBackEnd } from "./state-back-end.ts";

export function edgesContract(name: string, open: OpenState): void {
  describe(`edges: ${name}`, () => {
    let state: StateBackEnd;
    beforeEach(async () => {
      state = await open();
    });
    afterEach(() => state.close());

    const names = async (what: string): Promise<readonly string[]> =>
      (await state.edges.listeners(what, never)).map((key) => key.name);

    test("nobody listens to what nobody asked for", async () => {
      expect(await state.edges.listeners("src#a", never)).toEqual([]);
    });

    test("a listener is heard of at once, by its whole key", async () => {
      await state.edges.listen(keyOf("web"), ["src#a", "dep#b"], never);
      expect(await state.edges.listeners("src#a", never)).toEqual([keyOf("web")]);
      expect(await state.edges.listeners("dep#b", never)).toEqual([keyOf("web")]);
    });

    test("listeners come in the order of their keys", async () => {
      for (const listener of ["web", "db", "cache"]) await state.edges.listen(keyOf(listener), ["src#a"], never);
      expect(await names("src#a")).toEqual(["cache", "db", "web"]);
    });

    test("listening anew replaces what the key listened to and leaves the others alone", async () => {
      await state.edges.listen(keyOf("web"), ["src#a", "src#b"], never);
      await state.edges.listen(keyOf("db"), ["src#a"], never);
      await state.edges.listen(keyOf("web"), ["src#b", "src#c"], never);
      expect(await names("src#a")).toEqual(["db"]);
      expect(await names("src#b")).toEqual(["web"]);
      expect(await names("src#c")).toEqual(["web"]);
    });

    test("listening twice, and naming one thing twice, is listening once", async () => {
      await state.edges.listen(keyOf("web"), ["src#a", "src#a"], never);
      await state.edges.listen(keyOf("web"), ["src#a"], never);
      expect(await names("src#a")).toEqual(["web"]);
    });

    test("listening to nothing ends it", async () => {
      await state.edges.listen(keyOf("web"), ["src#a"], never);
      await state.edges.listen(keyOf("web"), [], never);
      expect(await names("src#a")).toEqual([]);
    });

    test("a name of something is taken as it is, with no wildcard and no prefix", async () => {
      await state.edges.listen(keyOf("web"), ["repo#127.0.0.1:5000/a_b"], never);
      expect(await names("repo#127.0.0.1:5000/a%")).toEqual([]);
      expect(await names("repo#127.0.0.1:5000/a")).toEqual([]);
      expect(await names("repo#127.0.0.1:5000/A_B")).toEqual([]);
    });

    test("a name of any length is kept whole, and three hundred of them change at once", async () => {
      const whats = Array.from({ length: 300 }, (_, number) => `git#https://host/${"x".repeat(2_500)}/${number}`);
      const long = { ...keyOf("n".repeat(253)), cluster: "c".repeat(253), namespace: "s".repeat(253) };
      await state.edges.listen(long, whats, never);
      expect(await state.edges.listeners(whats[299] ?? "", never)).toEqual([long]);
      await state.edges.listen(long, ["src#a", ...whats.slice(150)], never);
      expect(await state.edges.listeners(whats[0] ?? "", never)).toEqual([]);
      expect(await state.edges.listeners(whats[150] ?? "", never)).toEqual([long]);
      expect(await state.edges.listeners("src#a", never)).toEqual([long]);
    });

    test("a thousand listeners of one thing are all heard of", async () => {
      const keys = Array.from({ length: 1_000 }, (_, number) => keyOf(`app-${number}`));
      await mapLimit(keys, 40, (key, stop) => state.edges.listen(key, ["src#a"], stop), never);
      expect(await state.edges.listeners("src#a", never)).toHaveLength(1_000);
    });
  });
}
