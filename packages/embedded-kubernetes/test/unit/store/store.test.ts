import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StoreEvent } from "../../../src/store/history.ts";
import { openStore, type Store } from "../../../src/store/store.ts";
import { parseStored, textOfStored } from "../../../src/store/stored-object.ts";

let folder = "";
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-store-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const key = (name: string, namespace = "default"): { resource: string; namespace: string; name: string } => ({
  resource: "/configmaps",
  namespace,
  name,
});
const object = (name: string, value = "1"): { metadata: { name: string }; data: { k: string } } => ({
  metadata: { name },
  data: { k: value },
});
const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name);

describe("the store of the embedded cluster", () => {
  test("increments one revision for every change, which is the object's resourceVersion", () => {
    const first = store.write(key("a"), object("a"));
    const second = store.write(key("a"), object("a", "2"));
    expect(second.revision).toBe(first.revision + 1);
    expect(parseStored(second, "v1", "ConfigMap")).toMatchObject({
      metadata: { resourceVersion: String(second.revision) },
    });
    store.remove(key("a"), object("a", "2"));
    expect(store.revision()).toBe(second.revision + 1);
    expect(store.get(key("a"))).toBeUndefined();
  });

  test("returns the same object as text and parsed", () => {
    const stored = store.write(key("a"), object("a"));
    expect(JSON.parse(textOfStored(stored, "v1", "ConfigMap"))).toEqual(parseStored(stored, "v1", "ConfigMap"));
    const bare = store.write(key("b"), { metadata: { name: "b" } });
    expect(JSON.parse(textOfStored(bare, "v1", "ConfigMap", false))).toEqual({
      metadata: parseStored(bare, "v1", "K")["metadata"],
    });
  });

  test("lists objects by namespace and name", () => {
    for (const [name, namespace] of [
      ["b", "x"],
      ["a", "y"],
      ["c", "x"],
    ] as const)
      store.write(key(name, namespace), object(name));
    expect(names(store.list({ resource: "/configmaps" }))).toEqual(["b", "c", "a"]);
    expect(names(store.list({ resource: "/configmaps", namespace: "x", metadataOnly: true }))).toEqual(["b", "c"]);
  });

  test("lists a namespace starting after a name", () => {
    for (const name of ["a", "b", "c"]) store.write(key(name), object(name));
    store.write(key("c", "other"), object("c"));
    const after = (name: string) => names(store.list({ resource: "/configmaps", namespace: "default", after: name }));
    expect([after(""), after("a"), after("bb"), after("c")]).toEqual([["a", "b", "c"], ["b", "c"], ["c"], []]);
  });

  test("can return a list in an older state", () => {
    store.write(key("a"), object("a"));
    store.write(key("b"), object("b"));
    const then = store.revision();
    store.write(key("a"), object("a", "2"));
    store.remove(key("b"), object("b"));
    store.write(key("c"), object("c"));
    const past = store.listAt({ resource: "/configmaps", namespace: "default" }, then);
    expect(past.map((stored) => [stored.name, parseStored(stored, "v1", "ConfigMap")["data"]])).toEqual([
      ["a", { k: "1" }],
      ["b", { k: "1" }],
    ]);
    expect(names(store.list({ resource: "/configmaps" }))).toEqual(["a", "c"]);
  });

  test("reports every change to listeners in order, with the old object", () => {
    const seen: StoreEvent[] = [];
    const stop = store.subscribe((event) => seen.push(event));
    store.write(key("a"), object("a"));
    store.write(key("a"), object("a", "2"));
    store.remove(key("a"), object("a", "2"));
    stop();
    store.write(key("b"), object("b"));
    expect(seen.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
    expect(seen[1]?.previous?.body).toBe('{"data":{"k":"1"}}');
    expect(store.eventsAfter(seen[0]?.revision ?? 0).map(({ name }) => name)).toEqual(["a", "a", "b"]);
  });

  test("forgets old events and knows since when it has them", () => {
    const oldest = store.oldestRevision();
    for (let round = 0; round < 2_100; round += 1) store.write(key("a"), object("a", String(round)));
    expect(store.oldestRevision()).toBeGreaterThan(oldest);
    const remembered = store.eventsAfter(store.oldestRevision());
    expect(remembered[0]?.revision).toBe(store.oldestRevision() + 1);
    expect(remembered.at(-1)?.revision).toBe(store.revision());
  });
});
