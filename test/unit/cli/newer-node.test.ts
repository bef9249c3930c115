import { describe, expect, test } from "vitest";
import { newerNode } from "../../../cli/newer-node.ts";

/** What this Node brings, and what an older one gets in its place, which must do the same. */
const versions = [
  { of: "Node", make: () => new AsyncDisposableStack() },
  { of: "an older Node", make: () => new newerNode.Stack() },
] as const;

describe.each(versions)("the stack of resources of $of", ({ make }) => {
  test("releases what it was given, the last first, and only once", async () => {
    const released: string[] = [];
    const stack = make();
    stack.use({ [Symbol.asyncDispose]: async () => void released.push("used") });
    stack.use({ [Symbol.dispose]: () => void released.push("used at once") });
    expect(stack.use(undefined)).toBe(undefined);
    stack.defer(() => void released.push("deferred"));
    expect(stack.adopt("adopted", (value) => void released.push(value))).toBe("adopted");
    await stack.disposeAsync();
    await stack.disposeAsync();
    expect(released).toEqual(["adopted", "deferred", "used at once", "used"]);
    expect(stack.disposed).toBe(true);
    expect(() => stack.defer(() => undefined)).toThrow(ReferenceError);
  });

  test("releases the rest if a release fails, and tells every failure", async () => {
    const released: string[] = [];
    const stack = make();
    stack.defer(() => void released.push("first"));
    stack.defer(() => Promise.reject(new Error("later")));
    stack.defer(() => Promise.reject(new Error("earlier")));
    const failure: unknown = await stack.disposeAsync().catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: "SuppressedError",
      error: new Error("later"),
      suppressed: new Error("earlier"),
    });
    expect(released).toEqual(["first"]);
  });

  test("that was moved releases nothing: the new one does", async () => {
    const released: string[] = [];
    const stack = make();
    stack.defer(() => void released.push("moved"));
    const moved = stack.move();
    await stack[Symbol.asyncDispose]();
    expect(released).toEqual([]);
    await moved[Symbol.asyncDispose]();
    expect(released).toEqual(["moved"]);
  });
});

test("an older Node groups by a function as Map.groupBy does", () => {
  const items = ["ant", "bee", "ape", "bat", "cat"];
  const keyOf = (item: string, index: number) => (index === 4 ? "last" : item[0]);
  expect([...newerNode.groupBy(items, keyOf)]).toEqual([...Map.groupBy(items, keyOf)]);
});

test.each([
  ["https://a.test/b", undefined],
  ["/c", "https://a.test"],
  ["no URL", undefined],
  ["", undefined],
])("an older Node reads the URL %j on %j as URL.parse does", (text, base) => {
  expect(newerNode.parseUrl(text, base)?.href).toBe(URL.parse(text, base)?.href);
});

test("an older Node makes a promise that is settled from outside", async () => {
  const [kept, broken] = [newerNode.withResolvers<string>(), newerNode.withResolvers<string>()];
  kept.resolve("kept");
  broken.reject(new Error("broken"));
  expect(await kept.promise).toBe("kept");
  await expect(broken.promise).rejects.toThrow("broken");
});
