import { expect, test } from "vitest";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { maxObjectCacheBytes, objectCache, versionOf } from "../../../../lib/flows/kustomization/object-cache.ts";

const key = (name: string, cluster = "c") => ({ cluster, group: "g", kind: "Thing", namespace: "ns", name });
const version = { uid: "1", resourceVersion: "7" };
const thing = (name: string, characters = 0): LiveObject => ({
  apiVersion: "g/v1",
  kind: "Thing",
  metadata: { name, namespace: "ns", ...version },
  text: "x".repeat(characters),
});

test("the object cache finds an object by the version in which it was read, and by no other", () => {
  const cache = objectCache();
  cache.put(key("a"), thing("a"));
  expect(cache.get(key("a"), version)).toEqual(thing("a"));
  expect(cache.get(key("a"), { ...version, resourceVersion: "8" })).toBeUndefined();
  expect(cache.get(key("a"), { ...version, uid: "2" })).toBeUndefined();
});

test("the object cache keeps objects of the same name in two clusters apart", () => {
  const cache = objectCache();
  cache.put(key("a", "here"), thing("a"));
  expect(cache.get(key("a", "there"), version)).toBeUndefined();
});

test("above its budget the object cache evicts the least recently used object", () => {
  const cache = objectCache();
  const third = maxObjectCacheBytes / 4 / 3 - 1_000;
  for (const name of ["a", "b", "c"]) cache.put(key(name), thing(name, third));
  expect(cache.get(key("a"), version)).toBeDefined();
  cache.put(key("d"), thing("d", third));
  const kept = ["a", "b", "c", "d"].filter((name) => cache.get(key(name), version) !== undefined);
  expect(kept).toEqual(["a", "c", "d"]);
});

test("the object cache does not find an object without a resourceVersion", () => {
  expect(versionOf(thing("a"))).toEqual(version);
  expect(versionOf({ ...thing("a"), metadata: { name: "a", uid: "1" } })).toBeUndefined();
});
