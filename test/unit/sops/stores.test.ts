import { expect, test } from "vitest";
import { atOnce } from "../../../lib/sops/steps.ts";
import { dotenvStore } from "../../../lib/sops/stores/dotenv.ts";
import { unflatten } from "../../../lib/sops/stores/flat-metadata.ts";
import { iniStore } from "../../../lib/sops/stores/ini.ts";
import type { Store } from "../../../lib/sops/stores/store.ts";
import { Branch } from "../../../lib/sops/tree.ts";

/** Values and names with each character that a format writes in its own way, once and more often. */
const odd = ["a=b=c", "a;b;c", "a#b#c", "a`b", '"a"b"', "'a'", "a:b", "a\\b", "a b", "[a]", "%a", "$a", "é☃😀"];

function read(store: Store, text: string): readonly Branch[] {
  const loaded = store.load(text);
  return Array.isArray(loaded) ? loaded : atOnce(loaded);
}

const branch = (fields: Readonly<Record<string, string>>): Branch =>
  new Branch(Object.entries(fields).map(([key, value]) => ({ key, value })));

test.each([...odd, "", " a ", "a\nb\nc\n", "\n\n"])("the value %j of a dotenv file is read back unchanged", (value) => {
  const file = branch({ before: "x", KEY: value, after: "y" });
  const text = String(dotenvStore.emit([file]));
  expect(text.split("\n")).toHaveLength(4);
  expect(read(dotenvStore, text)).toEqual([file]);
});

// What stands in quotes loses them, as in the Go module that sops uses.
const withoutQuotes = odd.filter((text) => text !== "'a'");

test.each([...withoutQuotes, "", "a", " a ", "a\nb\nc", '"a', "a\t"])(
  "the value %j of an INI file is read back unchanged",
  (value) => {
    const file = new Branch([{ key: "section", value: branch({ before: "x", key: value, after: "y" }) }]);
    const [found] = read(iniStore, String(iniStore.emit([file])));
    expect(found?.get("section")).toEqual(file.get("section"));
  },
);

test.each(["a=b", "a:b", 'a"b', "a`b", "a.b", "a b", "é"])(
  "the name %j of an INI file is read back unchanged",
  (name) => {
    const file = new Branch([{ key: "section", value: branch({ [name]: "x", other: "y" }) }]);
    const [found] = read(iniStore, String(iniStore.emit([file])));
    expect(found?.get("section")).toEqual(file.get("section"));
  },
);

test("a list stored in key names has its items in numeric order, whatever their order in the file", () => {
  const items = Array.from({ length: 12 }, (_, index) => ({ key: `age__list_${index}__map_enc`, value: `e${index}` }));
  for (const order of [items, items.toReversed(), items.toSorted((a, b) => (a.key < b.key ? -1 : 1))]) {
    const list = items.map(({ value }) => branch({ enc: value }));
    expect(unflatten([...order, { key: "version", value: "v" }]).get("age")).toEqual(list);
  }
});

test.each([
  [["a__list_0", "a__list_2"], "Incomplete list"],
  [["a", "a"], "Duplicate value"],
  [["a", "a__map_b"], "Type mismatch"],
  [["a__list_0", "a__map_b"], "Type mismatch"],
])("names %j are refused: %s", (names, why) => {
  expect(() => unflatten(names.map((key) => ({ key, value: "x" })))).toThrow(`Error while unflattening: ${why}`);
});
