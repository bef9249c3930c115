import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fairTurns, TooManyWaiting } from "../../../lib/threads/fair-turns.ts";

const forever = new AbortController().signal;
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Callers named `<namespace> <number>`, and who has a place, in the order in which they got it. */
function callers(places: number, maxWaiting = Number.POSITIVE_INFINITY) {
  const enter = fairTurns(places, maxWaiting);
  const inside: string[] = [];
  const held = new Map<string, Disposable>();
  const come = async (name: string, signal = forever, cluster = "test"): Promise<void> => {
    const [namespace = ""] = name.split(" ");
    held.set(name, await enter({ cluster, namespace }, signal));
    inside.push(name);
  };
  const leave = async (name: string): Promise<void> => {
    held.get(name)?.[Symbol.dispose]();
    held.delete(name);
    await turn();
  };
  return { come, inside, leave, running: () => [...held.keys()] };
}

describe("turns", () => {
  test("of one tenant are in the order of its calls", async () => {
    const { come, inside, leave } = callers(2);
    const all = Promise.all(["a 1", "a 2", "a 3", "a 4"].map((name) => come(name)));
    await turn();
    expect(inside).toEqual(["a 1", "a 2"]);
    await leave("a 2");
    expect(inside).toEqual(["a 1", "a 2", "a 3"]);
    await leave("a 1");
    await leave("a 3");
    await all;
    expect(inside).toEqual(["a 1", "a 2", "a 3", "a 4"]);
    await leave("a 4");
    await Promise.all([come("a 5"), come("a 6")]);
    expect(inside).toHaveLength(6);
  });

  test.each([1, 3])(
    "with %d places, a tenant with 1,000 waiting requests delays another one only by its running requests",
    async (places) => {
      const { come, inside, leave, running } = callers(places);
      const greedy = Array.from({ length: 1_000 + places }, (_, at) => come(`greedy ${at}`));
      await turn();
      const other = Promise.all(["other 1", "other 2"].map((name) => come(name)));
      await turn();
      for (const name of running()) await leave(name);
      expect(inside.slice(places)).toContain("other 1");
      expect(inside[places]).toBe("other 1");
      for (let rounds = 0; rounds < 1_003; rounds++) for (const name of running()) await leave(name);
      await Promise.all([...greedy, other]);
      expect(inside.indexOf("other 2")).toBeLessThanOrEqual(2 * places + 1);
    },
  );

  test("rotate between tenants, whatever each has waiting", async () => {
    const { come, inside, leave } = callers(1);
    const names = ["a 1", "a 2", "a 3", "b 1", "b 2", "c 1", "a 4"];
    const all = Promise.all(names.map((name) => come(name)));
    await turn();
    for (let at = 0; at < names.length; at++) await leave(inside[at] ?? "");
    await all;
    expect(inside).toEqual(["a 1", "b 1", "c 1", "a 2", "b 2", "a 3", "a 4"]);
  });

  test("of two tenants that come again after each turn do not block a third one", async () => {
    const { come, inside, leave } = callers(1);
    const all = [come("a 1"), come("b 1"), come("c 1")];
    await turn();
    for (let at = 2; !inside.includes("c 1"); at++) {
      const name = inside.at(-1) ?? "";
      if (at > 10) throw new Error(`c waits for ${inside.join(", ")}`);
      all.push(come(`${name.slice(0, 1)} ${at}`));
      await leave(name);
    }
    expect(inside).toEqual(["a 1", "b 1", "c 1"]);
    for (let left = all.length - inside.length; left > 0; left--) await leave(inside.at(-1) ?? "");
    await Promise.all(all);
  });

  test("of namespaces with the same name in two clusters belong to two tenants", async () => {
    const { come, inside, leave } = callers(1);
    const all = Promise.all([come("a 1"), come("a 2"), come("a 3", forever, "other")]);
    await turn();
    for (let at = 0; at < 3; at++) await leave(inside[at] ?? "");
    await all;
    expect(inside).toEqual(["a 1", "a 3", "a 2"]);
  });

  test("release an aborted caller at once, and lose no place, not even one given at the same moment", async () => {
    const { come, inside, leave } = callers(1);
    await come("a 1");
    const [before, same] = [new AbortController(), new AbortController()];
    const given = [come("b 1", before.signal), come("b 2", same.signal), come("c 1")];
    const ends = Promise.allSettled(given);
    before.abort(new Error("enough"));
    await turn();
    same.abort(new Error("too late"));
    await leave("a 1");
    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(inside).toEqual(["a 1", "c 1"]);
    await leave("c 1");
    await come("d 1");
    await expect(come("e 1", AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
  });

  test("are refused for a tenant with too many waiting calls, until one aborts or has its turn", async () => {
    const { come, leave } = callers(1, 2);
    await come("a 1");
    const stop = new AbortController();
    const [second, third] = [come("a 2"), come("a 3", stop.signal)];
    const refused = { reason: "busy", message: "2 requests of this namespace are waiting already" };
    await expect(come("a 4")).rejects.toBeInstanceOf(TooManyWaiting);
    await expect(come("a 4")).rejects.toMatchObject(refused);
    const other = come("b 1");
    stop.abort(new Error("enough"));
    await expect(third).rejects.toThrow("enough");
    const fifth = come("a 5");
    await expect(come("a 6")).rejects.toMatchObject(refused);
    for (const name of ["a 1", "b 1"]) await leave(name);
    await Promise.all([other, second]);
    const seventh = come("a 7");
    for (const name of ["a 2", "a 5", "a 7"]) await leave(name);
    await Promise.all([fifth, seventh]);
  });

  test("are given to each waiting tenant within as many turns as tenants wait", async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ come: fc.integer({ min: 0, max: 4 }) }) },
      { weight: 2, arbitrary: fc.constant("leave" as const) },
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (places, steps) => {
        const { come, inside, leave, running } = callers(places);
        /** The callers of each tenant that wait, and since how many turns the first of them is the first. */
        const waiting = new Map<string, { names: readonly string[]; since: number }>();
        const all: Promise<void>[] = [];
        const seen = () => {
          for (const [tenant, { names, since }] of waiting) {
            const left = names.filter((name) => !inside.includes(name));
            waiting.set(tenant, { names: left, since: left[0] === names[0] ? since : inside.length });
          }
        };
        let count = 0;
        for (const each of [...steps, ...Array.from({ length: 70 }, () => "leave" as const)]) {
          if (each === "leave") {
            const [name] = running();
            if (name !== undefined) await leave(name);
          } else {
            const tenant = `t${each.come}`;
            const name = `${tenant} ${count++}`;
            const { names, since } = waiting.get(tenant) ?? { names: [], since: 0 };
            waiting.set(tenant, { names: [...names, name], since: names.length === 0 ? inside.length : since });
            all.push(come(name));
            await turn();
          }
          seen();
          expect(running().length).toBeLessThanOrEqual(places);
          // Of five tenants, the other four have a turn at most.
          const first = [...waiting.values()].filter(({ names }) => names.length > 0);
          expect(first.every(({ since }) => inside.length - since < 5)).toBe(true);
        }
        await Promise.all(all);
        expect(inside).toHaveLength(count);
      }),
    );
  });
});
