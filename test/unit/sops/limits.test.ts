import { expect, test } from "vitest";
import { dataKeys } from "../../../lib/sops/data-key.ts";
import { maxMatchedChars, maxMatchSteps } from "../../../lib/sops/encryption-rule.ts";
import { verifyFile } from "../../../lib/sops/file/decrypt-file.ts";
import { maxFileBytes } from "../../../lib/sops/file/load-file.ts";
import type { SopsFormat } from "../../../lib/sops/format.ts";
import { ageIdentities, maxIdentities } from "../../../lib/sops/keys/age.ts";
import { maxEncChars, maxGroups, maxRecipients, maxTextChars } from "../../../lib/sops/metadata.ts";
import { iniStore, maxNameBytes } from "../../../lib/sops/stores/ini.ts";
import { maxAliasedBytes, maxIndicators } from "../../../lib/sops/stores/yaml-load.ts";
import { maxDepth, maxParts } from "../../../lib/sops/tree.ts";
import { dataKey, macOf, plainKeys, sopsOf } from "./encrypt.ts";
import { identities, never } from "./fixtures.ts";

const keys = dataKeys([plainKeys]);

/** Why a file is refused; an empty text if it is not. */
async function faultOf(text: string, format: SopsFormat = "json"): Promise<string> {
  return verifyFile(Buffer.from(text), format, keys, never).then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
}

/** A file without values, whose MAC is right. */
function file(more: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ sops: sopsOf(macOf(), more) });
}

const enc = dataKey.toString("base64");
const recipients = (count: number): object[] => Array.from({ length: count }, () => ({ recipient: "r", enc }));

test("a file may have as many bytes as in Flux", async () => {
  const text = file({});
  const full = text + " ".repeat(maxFileBytes - text.length);
  expect(await faultOf(full)).toBe("");
  expect(await faultOf(`${full} `)).toBe(
    `cannot decrypt file with size (${maxFileBytes + 1} bytes) exceeding limit (${maxFileBytes})`,
  );
});

test("the keys and key groups of a file are limited", async () => {
  expect(await faultOf(file({ age: recipients(maxRecipients) }))).toBe("");
  expect(await faultOf(file({ age: recipients(maxRecipients + 1) }))).toContain(`more than ${maxRecipients}`);
  const groups = (count: number, each: number): string =>
    file({ age: [], key_groups: Array.from({ length: count }, () => ({ age: recipients(each) })) });
  // Every group has the same share here, so putting them together fails, but only then.
  expect(await faultOf(groups(maxGroups, 1))).toContain("duplicate part detected");
  expect(await faultOf(groups(maxGroups + 1, 1))).toContain(`more than ${maxGroups} key groups`);
  expect(await faultOf(groups(2, maxRecipients / 2 + 1))).toContain(`more than ${maxRecipients} keys`);
});

test("texts of the metadata have a maximum length", async () => {
  expect(await faultOf(file({ encrypted_regex: "a".repeat(maxTextChars) }))).toBe("");
  expect(await faultOf(file({ encrypted_regex: "a".repeat(maxTextChars + 1) }))).toContain(
    `encrypted_regex in the sops metadata has more than ${maxTextChars} characters`,
  );
  const other = { recipient: "r", enc: "A".repeat(maxEncChars) };
  expect(await faultOf(file({ age: [other] }))).not.toContain("characters");
  expect(await faultOf(file({ age: [{ ...other, enc: `${other.enc}A` }] }))).toContain(
    `enc in the sops metadata has more than ${maxEncChars} characters`,
  );
});

test("an expression is matched against a limited number of characters", async () => {
  const long = (chars: number): string =>
    JSON.stringify({ ["k".repeat(chars)]: "", sops: sopsOf(macOf(), { encrypted_regex: "^data.?$" }) });
  expect(await faultOf(long(maxMatchedChars))).toBe("");
  expect(await faultOf(long(maxMatchedChars + 1))).toBe(
    "error decrypting sops tree: Error walking tree: " +
      `its expression would have to be matched with more than ${maxMatchedChars} characters of keys`,
  );
});

test("the steps of an expression are limited: its instructions for each character", async () => {
  const long = (expression: string): string =>
    JSON.stringify({ ["a".repeat(10_000)]: "", sops: sopsOf(macOf(), { encrypted_regex: expression }) });
  expect(await faultOf(long("^b{500}$"))).toBe("");
  expect(await faultOf(long("^b{1000}$"))).toBe(
    `error decrypting sops tree: Error walking tree: its expression would take more than ${maxMatchSteps} steps`,
  );
});

// Took minutes while each comment looked at all those before it.
test("a YAML file with many comments is matched in time proportional to its length", async () => {
  const metadata = JSON.stringify(sopsOf(macOf(), { encrypted_comment_regex: "[s]ecret" }));
  expect(await faultOf(`${"#\n".repeat(150_000)}a: ""\nsops: ${metadata}\n`, "yaml")).toBe("");
});

test("a file has a maximum depth", async () => {
  const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const why = `nested deeper than ${maxDepth} levels`;
  for (const format of ["json", "yaml"] as const) {
    expect(await faultOf(`{"a": ${nested(maxDepth - 2)}}`, format)).toContain("sops metadata not found");
    for (const levels of [maxDepth + 2, 200_000]) {
      expect(await faultOf(`{"a": ${nested(levels)}}`, format)).toContain(why);
      expect(await faultOf(`{"a": ${"[".repeat(levels)}`, format)).toContain(why);
    }
  }
});

test("the expanded bytes of aliases are limited", async () => {
  const megabyte = `a: &a ${"x".repeat(1024 * 1024 - 32)}\n`;
  const aliases = (count: number): string => `${megabyte}b: [${"*a, ".repeat(count)}]\n`;
  const most = maxAliasedBytes / (1024 * 1024);
  expect(await faultOf(aliases(most), "yaml")).toContain("sops metadata not found");
  expect(await faultOf(aliases(most + 1), "yaml")).toContain("document contains excessive aliasing");
  const level = (at: number): string => `l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(10)}]\n`;
  const bomb = `l0: &l0 [${"x,".repeat(10)}]\n${Array.from({ length: 9 }, (_, at) => level(at)).join("")}`;
  expect(await faultOf(bomb, "yaml")).toContain("document contains excessive aliasing");
  expect(await faultOf("a: &a [*a]\n", "yaml")).toContain("or of one that contains it");
});

// Each of these took from half a minute to an hour while the reader looked through a line, or a file, for every value.
test.each([
  { what: "lists on one line", unit: "[],", head: "l: [", tail: "]\n", parts: 2, limit: maxParts },
  { what: "values on one line", unit: "1,", head: "l: [", tail: "]\n# a\n", parts: 1, limit: maxParts },
  {
    what: "lines without a comment",
    unit: "- aaaaaaaaaaaaaaaaaaaaa\n",
    head: "l:\n",
    tail: "",
    parts: 1,
    limit: maxParts,
  },
  { what: "documents without a marker", unit: "{}\n...\n", head: "", tail: "", parts: 4, limit: maxParts },
  { what: "comments before a key", unit: "#\n", head: "", tail: "a: b\n", parts: 1, limit: maxParts },
])(
  "a YAML file with many $what is parsed in time proportional to its length",
  async ({ unit, head, tail, parts, limit }) => {
    const text = `${head}${unit.repeat(Math.floor((limit - 50) / parts))}${tail}`;
    expect(await faultOf(text, "yaml")).toContain("sops metadata not found");
  },
);

test("values and comments of a YAML file are limited", async () => {
  const refused = `more than ${maxParts} values and comments`;
  expect(await faultOf(`l: [${"1,".repeat(maxParts)}]\n`, "yaml")).toContain(refused);
  expect(await faultOf(`${"#\n".repeat(maxParts)}a: b\n`, "yaml")).toContain(refused);
  expect(await faultOf(`{"l": [${"1,".repeat(maxParts)}1]}`)).toContain(`more than ${maxParts} values`);
  expect(await faultOf("\n".repeat(maxIndicators + 1), "yaml")).toContain(`more than ${maxIndicators} line breaks`);
});

test("the identities of an agekey are limited", () => {
  const [one = ""] = identities("first");
  expect(ageIdentities(`${one}\n`.repeat(maxIdentities))).toHaveLength(maxIdentities);
  expect(() => ageIdentities(`${one}\n`.repeat(maxIdentities + 1))).toThrow(`more than ${maxIdentities} identities`);
});

test.each(["ini", "dotenv"] as const)("the lines of a file of %s are limited", async (format) => {
  const lines = (count: number): string => "a=b\n".repeat(count - 1);
  expect(await faultOf(lines(maxParts), format)).toContain("sops metadata not found");
  expect(await faultOf(lines(maxParts + 1), format)).toContain(`more than ${maxParts} lines`);
});

test("an INI value may continue over as many lines as a file has, and a file may have as many keys", () => {
  const value = iniStore.load(`a = ${"b\\\n".repeat(100_000)}c\n`);
  expect(Array.isArray(value) && iniStore.emit(value)).toBe(`a = ${"b".repeat(100_000)}c\n`);
  const keys = Array.from({ length: 150_000 }, (_, at) => `k${at} = v\n`).join("");
  const read = iniStore.load(keys);
  expect(Array.isArray(read) && iniStore.emit(read).toString().length).toBeGreaterThanOrEqual(keys.length);
});

test("the names of a section are limited in total, each as wide as its widest", () => {
  const wide = (keys: number): string =>
    `${"w".repeat(maxNameBytes / 64)} = v\n${Array.from({ length: keys - 1 }, (_, at) => `k${at} = v\n`).join("")}`;
  const emit = (text: string) => {
    const read = iniStore.load(text);
    return Array.isArray(read) ? iniStore.emit(read).length : 0;
  };
  expect(emit(wide(64))).toBeGreaterThan(maxNameBytes);
  expect(() => emit(wide(65))).toThrow(`the names of a section would take more than ${maxNameBytes} bytes`);
});
