import { describe, expect, test } from "vitest";
import { toJson } from "../../../lib/core/json.ts";
import { decryptValue } from "../../../lib/sops/cipher.ts";
import { dataKeys } from "../../../lib/sops/data-key.ts";
import { checkMac, decryptTree } from "../../../lib/sops/decrypt-tree.ts";
import { branchOfJson } from "../../../lib/sops/json-tree.ts";
import { readMetadata } from "../../../lib/sops/metadata.ts";
import { atOnce } from "../../../lib/sops/steps.ts";
import { Branch, type Scalar, SopsComment, SopsTime, type Value } from "../../../lib/sops/tree.ts";
import { dataKey, encrypted, plainKeys, sopsOf } from "./encrypt.ts";
import { allKeys, fixture, never } from "./fixtures.ts";

function branch(path: string): Branch {
  const parsed: unknown = JSON.parse(fixture(path).toString());
  return branchOf(parsed);
}

function branchOf(json: unknown): Branch {
  const value = branchOfJson(toJson(json));
  if (!(value instanceof Branch)) throw new TypeError("it is not an object");
  return value;
}

test("a tree is decrypted, and its MAC is the one that sops has computed", async () => {
  const file = branch("encrypted/docker.json");
  const sops = file.get("sops");
  if (!(sops instanceof Branch)) throw new TypeError("no sops");
  const metadata = readMetadata(sops);
  const key = await allKeys().of(metadata, never);
  const rest = new Branch(file.items.filter(({ key }) => key !== "sops"));
  const { branches, mac } = atOnce(decryptTree([rest], metadata, key));
  expect(branches).toEqual([branch("plain/docker.json")]);
  expect(() => checkMac(metadata, mac, key)).not.toThrow();
  expect(() => checkMac(metadata, atOnce(decryptTree([], metadata, key)).mac, key)).toThrow("MAC mismatch");
});

/** The texts of a file, by the keys that lead to each; a list adds none. */
const places = [
  ["data", "one"],
  ["data", "deep", "two"],
  ["data", "list", "three"],
  ["database", "four"],
  ["metadata", "data", "five"],
  ["metadata", "name"],
  ["old_data"],
  ["data_old"],
] as const;

/** The file with what `of` says at each place. */
function fileWith(of: (path: readonly string[]) => string): object {
  const [one, two, three, four, five, name, old, later] = places.map(of);
  return {
    data: { one, deep: { two }, list: [{ three }, [{ three }]] },
    database: { four },
    metadata: { data: { five }, name },
    old_data: old,
    data_old: later,
  };
}

describe("a rule by keys encrypts everything below a matching key:", () => {
  const isBelow = (wanted: (key: string) => boolean) => (path: readonly string[]) => path.some(wanted);
  test.each([
    ["encrypted_suffix", "data", isBelow((key) => key.endsWith("data"))],
    ["unencrypted_suffix", "data", isBelow((key) => key.endsWith("data"))],
    ["encrypted_regex", "^data$", isBelow((key) => key === "data")],
    ["unencrypted_regex", "^data$", isBelow((key) => key === "data")],
    ["encrypted_regex", "^(data|name)$", isBelow((key) => key === "data" || key === "name")],
    ["unencrypted_regex", "^data", isBelow((key) => key.startsWith("data"))],
    ["encrypted_regex", "data$", isBelow((key) => key.endsWith("data"))],
  ])("%s %s", async (kind, text, matches) => {
    const isEncrypted = (path: readonly string[]) => matches(path) === kind.startsWith("encrypted");
    const plainAt = (path: readonly string[]) => `plain ${path.join(".")}`;
    const json = fileWith((path) =>
      isEncrypted(path) ? encrypted(plainAt(path), `${path.join(":")}:`) : plainAt(path),
    );
    const metadata = readMetadata(branchOf(sopsOf("", { [kind]: text })));
    const key = await dataKeys([plainKeys]).of(metadata, never);
    const { branches } = atOnce(decryptTree([branchOf(json)], metadata, key));
    expect(branches).toEqual([branchOf(fileWith(plainAt))]);
  });
});

describe("a rule by comments applies to the comments before a value and before its parents, in a mapping as in a list:", () => {
  const note = new SopsComment(" mine", false);
  /** What is behind the comment, and what is not. */
  const fileOf = (mine: (path: string) => string, other: (path: string) => string): Branch => {
    const branch = (...items: readonly (readonly [string | SopsComment, Value])[]) =>
      new Branch(items.map(([key, value]) => ({ key, value })));
    return branch(
      ["before", other("before:")],
      [note, null],
      ["own", mine("own:")],
      ["after", other("after:")],
      ["list", [other("list:"), note, mine("list:"), other("list:"), branch(["in", other("list:in:")])]],
      [note, null],
      ["all", [mine("all:"), branch(["in", mine("all:in:")], ["deep", [mine("all:deep:")]])]],
      ["last", other("last:")],
    );
  };
  const open = (path: string) => `plain ${path}`;
  const sealed = (path: string) => encrypted(open(path), path);
  test.each([
    ["encrypted_comment_regex", fileOf(sealed, open)],
    ["unencrypted_comment_regex", fileOf(open, sealed)],
  ] as const)("%s", async (kind, file) => {
    const rule = { kind, text: "^ mine$" };
    const metadata = { ...readMetadata(branchOf(sopsOf(""))), rule };
    const key = await dataKeys([plainKeys]).of(metadata, never);
    const { branches } = atOnce(decryptTree([file], metadata, key));
    expect(branches).toEqual([fileOf(open, open)]);
  });
});

describe("a decrypted value is parsed by its type as in Go:", () => {
  const read = (text: string, type: string) => decryptValue(encrypted(text, "a:", type), dataKey, "a:");
  const accepted: readonly (readonly [type: string, text: string, value: Scalar])[] = [
    ["str", "007", "007"],
    ["int", "9223372036854775807", 2n ** 63n - 1n],
    ["int", "-9223372036854775808", -(2n ** 63n)],
    ["int", "+7", 7n],
    ["int", "007", 7n],
    ["float", "1.50", 1.5],
    ["float", "-.5e+3", -500],
    ["float", "2.", 2],
    ["float", "+Inf", Number.POSITIVE_INFINITY],
    ["float", "-infinity", Number.NEGATIVE_INFINITY],
    ["float", "NaN", Number.NaN],
    ...["1", "t", "T", "TRUE", "true", "True"].map((text) => ["bool", text, true] as const),
    ...["0", "f", "F", "FALSE", "false", "False"].map((text) => ["bool", text, false] as const),
    ["time", "2024-02-29T12:30:00.250Z", new SopsTime("2024-02-29T12:30:00.25Z")],
  ];
  test.each(accepted.map(([type, text, value]) => ({ type, text, value })))("$type $text", ({ type, text, value }) => {
    expect(read(text, type)).toEqual(value);
  });
  test("bytes and comments", () => {
    expect(read("a", "bytes")).toEqual(Buffer.from("a"));
    expect(read(" a", "comment")).toEqual(new SopsComment(" a", false));
  });

  test.each([
    ["int", "9223372036854775808"],
    ["int", "-9223372036854775809"],
    ["int", "1.0"],
    ["int", "0x7"],
    ["int", " 7"],
    ["float", "1e999"],
    ["float", "1_0"],
    ["float", "e5"],
    ["float", "-nan"],
    ["bool", "yes"],
    ["bool", "tRUE"],
    ["time", "2023-02-29T12:30:00Z"],
  ])("%s %s is refused without quoting it", (type, text) => {
    expect(() => read(text, type)).toThrow(`a decrypted value does not hold what its type ${type} says`);
    expect(() => read(text, type)).not.toThrow(text);
  });
});
