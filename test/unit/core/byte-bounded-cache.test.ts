import fc from "fast-check";
import { expect, test } from "vitest";
import { byteBoundedCache, entryBytes } from "../../../lib/core/byte-bounded-cache.ts";

const textCache = (maxBytes: number) => byteBoundedCache<string, string>(maxBytes, (value) => value.length);

test("entries are kept up to the bytes that all may take, and one byte more forgets the one that was used longest ago", () => {
  const cache = textCache(2 * (entryBytes + 2) + 10);
  cache.set("a", "12345");
  cache.set("b", "12345");
  expect([cache.get("a"), cache.get("b")]).toEqual(["12345", "12345"]);
  cache.get("a");
  cache.set("a", "123456");
  expect([cache.get("a"), cache.get("b")]).toEqual(["123456", undefined]);
});

test("a value that was read is kept longer than one that was written later", () => {
  const cache = textCache(2 * (entryBytes + 2));
  cache.set("a", "");
  cache.set("b", "");
  cache.get("a");
  cache.set("c", "");
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["", undefined, ""]);
});

test("the bytes of a key count", () => {
  const cache = textCache(entryBytes + 20);
  cache.set("k".repeat(10), "");
  expect(cache.size).toBe(1);
  cache.set("k".repeat(11), "");
  expect([cache.size, cache.get("k".repeat(10))]).toEqual([1, ""]);
});

test("a value that takes more than all may take is not kept, nor is the one that it replaces", () => {
  const cache = textCache(entryBytes + 12);
  cache.set("a", "small");
  cache.set("a", "much too large");
  expect([cache.get("a"), cache.size]).toEqual([undefined, 0]);
});

test("the bytes of a value that was deleted are free again", () => {
  const cache = textCache(entryBytes + 12);
  cache.set("a", "0123456789");
  cache.delete("a");
  cache.delete("a");
  cache.set("b", "0123456789");
  expect([cache.get("a"), cache.get("b")]).toEqual([undefined, "0123456789"]);
});

test("after any steps the entries take no more than they may", () => {
  const maxBytes = 5 * entryBytes;
  const step = fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 2 * entryBytes }), fc.boolean());
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const cache = byteBoundedCache<number, number>(maxBytes, (value) => value);
      for (const [key, bytes, isDeleted] of steps) {
        if (isDeleted) cache.delete(key);
        else cache.set(key, bytes);
        const held = Array.from({ length: 10 }, (_, each) => cache.get(each)).flatMap((each) => each ?? []);
        expect(held.length).toBe(cache.size);
        expect(held.reduce((sum, each) => sum + entryBytes + each, 0)).toBeLessThanOrEqual(maxBytes);
      }
    }),
  );
});
