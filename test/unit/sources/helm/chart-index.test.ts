import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { maxAliasedBytes } from "../../../../lib/manifests/alias-bomb.ts";
import { readIndex } from "../../../../lib/sources/helm/chart-index.ts";
import {
  defaultIndexLimits,
  maxIndexAliases,
  maxIndexDepth,
  maxPieceBytes,
} from "../../../../lib/sources/helm/index-limits.ts";

const forever = new AbortController().signal;

async function read(text: string, limits: Partial<typeof defaultIndexLimits> = {}) {
  const { entries, json } = await readIndex(Buffer.from(text), { ...defaultIndexLimits, ...limits }, forever);
  return { entries, json: Buffer.from(json).toString() };
}

/** The versions of each chart, in their order. */
async function versions(text: string) {
  const { entries } = await read(text);
  return Object.fromEntries([...entries].map(([name, charts]) => [name, charts.map(({ version }) => version)]));
}

const entry = (version: string, more = "") => `  - name: app\n    version: ${version}\n    urls: [app.tgz]\n${more}`;
const index = (...entries: readonly string[]) => `apiVersion: v1\nentries:\n  app:\n${entries.join("")}`;

const recorded = `apiVersion: v1
entries:
  app:
    - apiVersion: v2
      created: "2026-01-01T00:00:00Z"
      digest: b6b40497db22231651e99c30acae9d6b616bf593a3344cc44616bb00ab06da1b
      name: app
      urls:
        - app-1.0.0.tgz
      version: "1.0.0"
    - apiVersion: v2
      created: "2026-01-01T00:00:00Z"
      digest: "7ee1e849e03757e7e8a08752168c68caf5553c5cbd20c7c47e8916019275ba72"
      name: app
      urls:
        - app-1.1.0.tgz
      version: "1.1.0"
  other:
    - apiVersion: v2
      created: "2026-01-01T00:00:00Z"
      digest: d1d99dac6d6bd4dfeeee1d6b0ef9e5700f9294be506d2856a81bbd34a936f1bf
      name: other
      urls:
        - other-0.1.0.tgz
      version: "0.1.0"
generated: "2026-01-01T00:00:00Z"
`;

describe("the index of a Helm repository", () => {
  test("has the same bytes as real Flux has stored", async () => {
    const { json } = await read(recorded);
    const digest = createHash("sha256").update(json).digest("hex");
    expect(digest).toBe("2e8cbf68708a30e75796fb22ddd8a33bef392f0f91ff81b511b2180bd4a23931");
  });

  test("has the same bytes as Go writes for unusual entries (Helm 4.2.2, sigs.k8s.io/yaml 1.6.0)", async () => {
    const fixtures = join(import.meta.dirname, "../../../fixtures/helm");
    const [odd, written] = await Promise.all(
      ["odd-index.yaml", "odd-index.json"].map((file) => readFile(join(fixtures, file), "utf8")),
    );
    expect((await read(odd ?? "")).json).toBe(written);
  });

  test("lists the newest version first", async () => {
    const { entries } = await read(recorded);
    expect(entries.get("app")).toEqual([
      {
        name: "app",
        version: "1.1.0",
        created: Date.parse("2026-01-01T00:00:00Z"),
        digest: "7ee1e849e03757e7e8a08752168c68caf5553c5cbd20c7c47e8916019275ba72",
        urls: ["app-1.1.0.tgz"],
      },
      expect.objectContaining({ version: "1.0.0" }),
    ]);
    expect([...entries.keys()]).toEqual(["app", "other"]);
  });

  test.each([
    ["no version", "  - name: app\n"],
    ["an invalid version", entry("one")],
    ["an unknown type", entry("1.1.0", "    type: plugin\n")],
    ["a name with a slash", "  - name: a/b\n    version: 1.1.0\n"],
    ["a maintainer of null", entry("1.1.0", "    maintainers: [null]\n")],
    ["an invalid alias", entry("1.1.0", "    dependencies:\n    - name: a\n      alias: a b\n")],
    ["null", "  - null\n"],
  ])("11.4/91: an entry with %s is skipped, and the rest is read", async (_what, bad) => {
    expect(await versions(index(entry("1.0.0"), bad, entry("1.2.0")))).toEqual({ app: ["1.2.0", "1.0.0"] });
  });

  test("two dependencies with the same name are tolerated, as in Flux", async () => {
    const same = "    dependencies:\n    - name: a\n    - name: a\n";
    expect(await versions(index(entry("1.0.0", same)))).toEqual({ app: ["1.0.0"] });
  });

  test("is the same in JSON, in block style and in flow style", async () => {
    const [fromYaml, fromJson] = [await read(recorded), await read((await read(recorded)).json)];
    expect(fromJson).toEqual(fromYaml);
    const flow = "{apiVersion: v1, entries: {app: [{name: app, version: 1.0.0, urls: [app.tgz]}]}}";
    expect((await read(flow)).json).toBe((await read(index(entry("1.0.0")))).json);
  });

  test("may have no charts", async () => {
    expect((await read("apiVersion: v1\nentries: {}\n")).json).toBe(
      '{\n  "apiVersion": "v1",\n  "generated": "0001-01-01T00:00:00Z",\n  "entries": {}\n}',
    );
    expect((await read("apiVersion: v1\n")).json).toContain('"entries": null');
  });

  test("converts numbers and booleans to text as Go does", async () => {
    const text =
      "apiVersion: v1\nentries:\n  app:\n  - name: app\n    version: 1.0.0\n    urls: [1.50, yes]\n    digest: 12\n";
    const { json } = await read(text);
    expect(JSON.parse(json)).toMatchObject({ entries: { app: [{ urls: ["1.5", "true"], digest: "12" }] } });
  });

  test.each([
    ["", "empty index.yaml file"],
    ["entries: {}\n", "no API version specified"],
    ["apiVersion: v1\nentries: [\n", "error converting YAML to JSON: yaml: line 2: did not find expected node content"],
    [
      '{"apiVersion":"v1","entries":{"app":[',
      "error converting YAML to JSON: yaml: line 1: did not find expected node content",
    ],
    [
      "apiVersion: v1\nentries:\n\tapp: []\n",
      "error converting YAML to JSON: yaml: line 3: found character that cannot start any token",
    ],
    [
      "apiVersion: v1\nentries: {}\nentries: {}\n",
      'error converting YAML to JSON: yaml: unmarshal errors:\n  line 3: key "entries" already set in map',
    ],
    [
      "apiVersion: v1\ngenerated:\ngenerated:\n",
      'error converting YAML to JSON: yaml: unmarshal errors:\n  line 3: key "generated" already set in map',
    ],
    ["apiVersion: v1\nx: \u0000\n", "error converting YAML to JSON: yaml: control characters are not allowed"],
    [
      "apiVersion: v1\nentries: a: b\n",
      "error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this context",
    ],
    [
      index(entry("1.0.0", "    colour: blue\n")),
      'error unmarshaling JSON: while decoding JSON: json: unknown field "colour"',
    ],
    [
      index("  - name: app\n    urls: app.tgz\n"),
      "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go struct field ChartVersion.entries.urls of type []string",
    ],
    [
      index(entry("1.0.0", "    appVersion: 1.5\n")),
      "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field ChartVersion.entries.Metadata.appVersion of type string",
    ],
    [
      index(entry("1.0.0", "    maintainers:\n    - name: 1\n")),
      "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field Maintainer.entries.Metadata.maintainers.name of type string",
    ],
    [
      index(entry("1.0.0", "    created: 2020\n")),
      "error unmarshaling JSON: while decoding JSON: Time.UnmarshalJSON: input is not a JSON string",
    ],
    [
      "apiVersion: v1\ngenerated: yesterday\n",
      'error unmarshaling JSON: while decoding JSON: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    [
      '{"apiVersion":"v1","entries":{"app":[{"name":"app","version":1}]}}',
      "json: cannot unmarshal number into Go struct field ChartVersion.entries.Metadata.version of type string",
    ],
  ])("%j is refused with Flux's text", async (text, message) => {
    await expect(read(text)).rejects.toThrow(new RangeError(message));
  });

  test("drops an unknown field from JSON, as in Flux", async () => {
    const text = '{"apiVersion":"v1","entries":{"app":[{"name":"app","version":"1.0.0","colour":"blue"}]}}';
    expect((await read(text)).json).not.toContain("colour");
  });

  test("that lists a chart twice is refused", async () => {
    await expect(read(`${index(entry("1.0.0"))}  app: []\n`)).rejects.toThrow("already set in map");
  });

  const block = "entries:\n  app:\n  - name: app\n";
  test.each([
    ["in block style twice", [block, block]],
    ["in block style, then empty", [block, "entries: {}\n"]],
    ["empty, then in block style", ["entries: {}\n", block]],
    ["without a value, then empty", ["entries:\n", "entries: {}\n"]],
    ["empty, then without a value", ["entries: {}\n", "entries:\n"]],
    ["without a value twice", ["entries:\n", "entries: # none\n"]],
    ["in block style, then without a value", [block, '"entries":\n']],
    ["without a value, then in block style", ["entries:\n", block]],
  ])("that has entries %s is refused", async (_what, fields) => {
    await expect(read(`apiVersion: v1\n${fields.join("")}`)).rejects.toThrow('key "entries" already set in map');
  });

  test("that has a chart twice is refused with its name, also where it is too large to be read at once", async () => {
    const large = index(...Array.from({ length: 1_200 }, () => entry("1.0.0", `    home: ${"x".repeat(1_000)}\n`)));
    await expect(read(`${large}  other: []\n  app: []\n`)).rejects.toThrow('key "app" already set in map');
    expect(await read(`${large}  other: []\n`)).toBeDefined();
  });

  test("a text that continues below its entry is not read as two entries", async () => {
    const text = index(entry("1.0.0", `    description: "a\n  - name: b"\n`));
    await expect(read(text)).rejects.toThrow("error converting YAML to JSON: yaml: ");
  });
});

describe("limits on an index", () => {
  test("11.4/89: more bytes than allowed are refused, and the message has both numbers", async () => {
    const message = "index exceeds the maximum index file size of 10 bytes";
    await expect(read(recorded, { maxBytes: 10 })).rejects.toThrow(new RangeError(message));
  });

  test("more versions than allowed are refused", async () => {
    const text = index(entry("1.0.0"), entry("1.1.0"));
    expect(await read(text, { maxVersions: 2 })).toBeDefined();
    await expect(read(text, { maxVersions: 1 })).rejects.toThrow("it has more than 1 charts or versions");
  });

  test("aliases that expand to more than may be stored are refused", async () => {
    const long = "x".repeat(1_000);
    const text = index(
      entry("1.0.0", `    keywords: &k [${Array.from({ length: 50 }, () => long).join(", ")}]\n    sources: *k\n`),
    );
    expect(await read(text)).toBeDefined();
    await expect(read(text, { maxStoredBytes: 60_000 })).rejects.toThrow("it takes more than 60000 bytes as JSON");
  });

  test("a long text with many aliases is refused before the aliases are expanded", async () => {
    const aliases = Array.from({ length: 900 }, () => "*k").join(", ");
    const text = index(entry("1.0.0", `    home: &k ${"x".repeat(500_000)}\n    keywords: [${aliases}]\n`));
    await expect(read(text)).rejects.toThrow(`yaml: its aliases expand to more than ${maxAliasedBytes} bytes`);
  });

  test("a field outside of the charts counts towards the stored size", async () => {
    const text = `serverInfo: {a: ${"x".repeat(1_000)}}\n${index(entry("1.0.0"))}`;
    expect(await read(text, { maxStoredBytes: 2_000 })).toBeDefined();
    await expect(read(text, { maxStoredBytes: 1_000 })).rejects.toThrow("it takes more than 1000 bytes as JSON");
  });

  test("a value that contains itself is refused", async () => {
    const text = index(entry("1.0.0", "    dependencies:\n    - name: a\n      import-values: &a [*a]\n"));
    await expect(read(text)).rejects.toThrow(RangeError);
  });

  test("one entry that is larger than the parsing window is refused", async () => {
    const text = index(entry("1.0.0", `    description: ${"x".repeat(maxPieceBytes)}\n`));
    await expect(read(text)).rejects.toThrow(`one entry has more than ${maxPieceBytes} bytes`);
  });

  test("more aliases than allowed at once are refused", async () => {
    const aliases = (count: number) => Array.from({ length: count }, () => "*k").join(", ");
    const text = (count: number) => index(entry("1.0.0", `    home: &k h\n    sources: [${aliases(count)}]\n`));
    expect(await read(text(maxIndexAliases))).toBeDefined();
    await expect(read(text(maxIndexAliases + 1))).rejects.toThrow("error converting YAML to JSON: yaml: ");
  });

  test("more levels than allowed are refused", async () => {
    const text = index(entry("1.0.0", `    sources: ${"[".repeat(maxIndexDepth)}${"]".repeat(maxIndexDepth)}\n`));
    await expect(read(text)).rejects.toThrow("error converting YAML to JSON: yaml: ");
  });

  test("an index that takes longer than allowed is refused", async () => {
    await expect(read(recorded, { maxMs: -1 })).rejects.toThrow("s to read");
  });

  test("an index that is not in block style must fit into the parsing window", async () => {
    const flow = (bytes: number) => `%YAML 1.2\n---\napiVersion: v1\n#${"x".repeat(bytes)}`;
    expect(await read(flow(1_000))).toBeDefined();
    await expect(read(flow(maxPieceBytes))).rejects.toThrow(`more than ${maxPieceBytes} bytes cannot be read at once`);
  });
});
