import fc from "fast-check";
import { expect, test } from "vitest";
import { byteBoundedCache, entryBytes } from "../../../lib/core/byte-bounded-cache.ts";

const textCache = (maxBytes: number) => byteBoundedCache<string, string>(maxBytes, (value) => value.length);

test("a byte-bounded cache keeps entries up to its limit, and one byte more evicts the least recently used", () => {
  const cache = textCache(2 * (entryBytes + 2) + 10);
  cache.set("a", "12345");
  cache.set("b", "12345");
  expect([cache.get("a"), cache.get("b")]).toEqual(["12345", "12345"]);
  cache.get("a");
  cache.set("a", "123456");
  expect([cache.get("a"), cache.get("b")]).toEqual(["123456", undefined]);
});

test("a byte-bounded cache keeps a value that was read longer than one that was written later", () => {
  const cache = textCache(2 * (entryBytes + 2));
  cache.set("a", "");
  cache.set("b", "");
  cache.get("a");
  cache.set("c", "");
  expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual(["", undefined, ""]);
});

test("a byte-bounded cache counts the bytes of keys", () => {
  const cache = textCache(entryBytes + 20);
  cache.set("k".repeat(10), "");
  expect(cache.size).toBe(1);
  cache.set("k".repeat(11), "");
  expect([cache.size, cache.get("k".repeat(10))]).toEqual([1, ""]);
});

test("a byte-bounded cache does not store a value above its limit, and drops the old value", () => {
  const cache = textCache(entryBytes + 12);
  cache.set("a", "small");
  cache.set("a", "much too large");
  expect([cache.get("a"), cache.size]).toEqual([undefined, 0]);
});

test("a byte-bounded cache frees the bytes of a deleted value", () => {
  const cache = textCache(entryBytes + 12);
  cache.set("a", "0123456789");
  cache.delete("a");
  cache.delete("a");
  cache.set("b", "0123456789");
  expect([cache.get("a"), cache.get("b")]).toEqual([undefined, "0123456789"]);
});

test("a byte-bounded cache stays within its limit after any operations", () => {
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
