import fc from "fast-check";
import type { GeneratedTree } from "./generated-tree.ts";

/** Scalars as people write them, many of which readers of YAML take for different values. */
const word = fc.constantFrom(
  ...[
    "yes",
    "No",
    "ON",
    "off",
    "y",
    "N",
    "true",
    "False",
    "~",
    "null",
    "''",
    '"yes"',
    "'no'",
    '"~"',
    "'<<'",
    "<<",
    "=",
  ],
  ...["012", "0o17", "0x1f", "1_000", "+1", "-0", "1", "1.0", "1.5", "1e3", ".5", ".inf", "1:30", "12:30:45", '"012"'],
  ...["2001-01-01", "2001-01-01T00:00:00Z", "'2001-01-01'", "text", "two words", "text # why", "text   ", "a:b", "#x"],
  ...[
    "&a text",
    "*a",
    "!!str 1",
    '"a\\nb"',
    "'it''s'",
    '"\\u00e9"',
    "é",
    "text\t",
    "a\tb",
    "'a b '",
    "q\u00a0",
    "@x",
    "%x",
  ],
);
/** The place of the margin is `@`. */
const block = fc
  .tuple(
    fc.constantFrom("|", "|-", "|+", ">", "|2"),
    fc.constantFrom("@x", "@x\n@y", "@x\n\n@y  ", "@- x\n@# y", "@x\t"),
  )
  .map(([header, lines]) => `${header}\n${lines}`);
const key = fc.constantFrom("a", "new", '"a"', "'on'", "on", "y", "1", '"1"', "~", "a-b", "? a", '"a b"', "2001-01-01");
const value = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 3, arbitrary: block },
  { weight: 1, arbitrary: word.map((one) => `[${one}]`) },
  { weight: 1, arbitrary: word.map((one) => `{k: ${one}}`) },
  { weight: 1, arbitrary: key.map((one) => `{${one}: 1}`) },
);

const operations = fc
  .array(fc.tuple(fc.constantFrom("add", "replace"), fc.constantFrom("a", "new"), value), {
    minLength: 1,
    maxLength: 2,
  })
  .map((all) => (at: string) => {
    const one = ([op, name, text]: (typeof all)[number]) =>
      `- op: ${op}\n  path: ${at.replaceAll(".", "/")}/${name}\n  value: ${text.replaceAll("@", "    ")}\n`;
    return all.map(one).join("");
  });
const flow = fc
  .tuple(
    fc.constantFrom(
      '{"op": "add", "path": "@", "value": 1}',
      "{op: add, path: @, value: 1}",
      "{'op': 'remove', 'path': '@'}",
    ),
    fc.constantFrom("", ",", " # why", "\n"),
  )
  .map(
    ([one, after]) =>
      (at: string) =>
        `[${one.replace("@", `${at.replaceAll(".", "/")}/a`)}${after.startsWith(",") ? after : ""}]${after.replace(",", "")}\n`,
  );
const merge = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 2 }).map((all) => (at: string) => {
  const names = at.split(".").slice(1);
  const parents = names.map((name, depth) => `${"  ".repeat(depth)}${name}:\n`).join("");
  const margin = "  ".repeat(names.length);
  return `apiVersion: v1\nkind: Any\nmetadata:\n  name: any\n${parents}${all.map(([name, text]) => `${margin}${name}: ${text.replaceAll("@", `${margin}  `)}\n`).join("")}`;
});

const objects = `apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  a: b
---
apiVersion: example.test/v1
kind: Widget
metadata:
  name: a
spec:
  n: 1
  more:
    a: b
`;

/** Patches written as text, with all that can stand before, in and behind them, for objects that are built in process. */
export const writtenPatch: fc.Arbitrary<GeneratedTree> = fc
  .record({
    patch: fc.oneof(
      { weight: 4, arbitrary: operations },
      { weight: 4, arbitrary: merge },
      { weight: 1, arbitrary: flow },
    ),
    kind: fc.constantFrom("ConfigMap", "Widget"),
    before: fc.oneof(
      { weight: 4, arbitrary: fc.constant("") },
      fc.constantFrom("\n", "# why\n", "---\n", "  ", "\ufeff"),
    ),
    cut: fc.boolean(),
    after: fc.oneof(
      { weight: 4, arbitrary: fc.constant("") },
      fc.constantFrom(
        "\n\n",
        "   \n",
        "# why\n",
        "---\n",
        "...\n",
        "\t\n",
        "\u00a0",
        "---\n- op: remove\n",
        "---\n---\n",
      ),
    ),
    lineEnd: fc.oneof({ weight: 4, arbitrary: fc.constant("\n") }, fc.constant("\r\n")),
    isCutFile: fc.boolean(),
  })
  .map(({ patch, kind, before, cut, after, lineEnd, isCutFile }) => {
    const written = patch(kind === "Widget" ? ".spec.more" : ".data");
    const text = `${before}${cut ? written.replace(/\n+$/, "") : written}${after}`.replaceAll("\n", lineEnd);
    const content = `${objects}    text: |\n      x\n      y${isCutFile ? "" : "\n"}`;
    return {
      files: [{ path: "a.yaml", content: Buffer.from(content) }],
      spec: { patches: [{ patch: text, target: { kind } }] },
    };
  });
