import { expect, test } from "vitest";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import {
  maxCachedBytes,
  maxCachedObjectBytes,
  objectCache,
  versionOf,
} from "../../../../lib/flows/kustomization/object-cache.ts";

const key = (name: string, cluster = "c") => ({ cluster, group: "g", kind: "Thing", namespace: "ns", name });
const version = { uid: "1", resourceVersion: "7" };
const thing = (name: string, bytes = 0): LiveObject => ({
  apiVersion: "g/v1",
  kind: "Thing",
  metadata: { name, namespace: "ns", ...version },
  text: "x".repeat(bytes),
});

test("an object is found in the version in which it was read, and in no other", () => {
  const cache = objectCache();
  cache.put(key("a"), thing("a"));
  expect(cache.get(key("a"), version)).toEqual(thing("a"));
  expect(cache.get(key("a"), { ...version, resourceVersion: "8" })).toBeUndefined();
  expect(cache.get(key("a"), { ...version, uid: "2" })).toBeUndefined();
});

test("an object of the same name in another cluster is another", () => {
  const cache = objectCache();
  cache.put(key("a", "here"), thing("a"));
  expect(cache.get(key("a", "there"), version)).toBeUndefined();
});

test("beyond its budget the cache forgets what was used longest ago", () => {
  const cache = objectCache();
  const bytes = maxCachedObjectBytes - 1_000;
  const fits = Math.floor(maxCachedBytes / maxCachedObjectBytes);
  for (let index = 0; index < fits; index++) cache.put(key(`${index}`), thing(`${index}`, bytes));
  expect(cache.get(key("0"), version)).toBeDefined();
  cache.put(key("one"), thing("one", bytes));
  cache.put(key("two"), thing("two", bytes));
  expect(cache.get(key("0"), version)).toBeDefined();
  expect(cache.get(key("1"), version)).toBeUndefined();
  expect(cache.get(key("two"), version)).toBeDefined();
});

test("an object that is too large is not cached, nor what was there before it", () => {
  const cache = objectCache();
  cache.put(key("a"), thing("a"));
  cache.put(key("a"), thing("a", maxCachedObjectBytes));
  expect(cache.get(key("a"), version)).toBeUndefined();
});

test("an object without a resourceVersion has no version to be found by", () => {
  expect(versionOf(thing("a"))).toEqual(version);
  expect(versionOf({ ...thing("a"), metadata: { name: "a", uid: "1" } })).toBeUndefined();
});
