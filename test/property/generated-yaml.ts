import fc from "fast-check";

/** A node of a YAML document, in the spelling in which it is written. */
export type Node =
  | { readonly kind: "scalar"; readonly text: string }
  | { readonly kind: "literal"; readonly header: string; readonly lines: readonly string[] }
  | { readonly kind: "mapping"; readonly entries: readonly (readonly [string, Node])[] }
  | { readonly kind: "sequence"; readonly items: readonly Node[]; readonly indented: boolean };

export const scalar = (text: string): Node => ({ kind: "scalar", text });
export const mapping = (entries: readonly (readonly [string, Node | undefined])[]): Node => ({
  kind: "mapping",
  entries: entries.flatMap(([key, node]) => (node === undefined ? [] : [[key, node] as const])),
});

/** Plain scalars that YAML readers disagree about, and many that look similar. */
export const awkward: readonly string[] =
  "yes no on off y n Yes NO true True false null ~ 0 -0 1 -1 007 0755 0o17 0x1F 0b101 1_000 1e3 1E5 -2.50 0.10 1.0 .5 5. +1 10.0.0.1 1.2.3 v1.2.3 22:22 1:30 12:30:45 2001-12-14 2001-12-14T21:59:43Z 2001-1-2 50m 32Mi 0.5 100% -c --flag - a-b .hidden .. ... = << ? : :x x:y a,b [] {} '' \"\" 'it''s' \"a\\tb\" \"a\\nb\" \"a\\nb\\n\" \" lead\" 'trail ' \"a #b\" 'a: b' '- a' \"123\" 'true' \"null\" \"~\" \"1e3\" \"0x1F\" \"2001-12-14\" \"22:22\" 'é' ünïcode \"\\u00e9\" 😀 '😀 smile' '#x' '@x' '`x' '%x' '!x' '&x' '*x' '|x' '>x' \"?x\" '? x' ',x' '[x' '{x' x#y 9007199254740991 123456789012 1234567.5 0.0001 99999.5 100000.5 -e -0.0 +.5 0o 0x 1__0 -1_0 1.e3 12e03 2020-01 2020-13-45 2020-02-30 1e400 0x1p4 .5_0 1_0.5 Infinity NaN .nan .Inf -.inf NULL Null TRUE ON".match(
    /"[^"]*"|'(?:[^']|'')*'|\S+/g,
  ) ?? [];

/** Those that every YAML reader reads in the same way. */
const plainEnough = awkward.filter(
  (text) => (/^[a-z\d.-]+$/i.test(text) && !/^[-+.\d]/.test(text)) || /^['"[{]/.test(text),
);

export const printable = fc.string({
  unit: fc.constantFrom(...Array.from("abcXYZ 019-_.:,#'\"\\/{}[]&*!|>%@`?=+~é漢")),
  maxLength: 24,
});
const words = fc
  .array(fc.stringMatching(/^[a-z]{1,14}$/), { minLength: 8, maxLength: 30 })
  .map((list) => list.join(" "));
export const quoted = fc
  .oneof(printable, words)
  .chain((text) => fc.constantFrom(JSON.stringify(text), `'${text.replaceAll("'", "''")}'`));

/** Integers around and past 64 bits, and floats in every notation. */
const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 67n), max: 2n ** 67n }).map(String),
  fc
    .tuple(fc.bigInt({ min: -3n, max: 3n }), fc.constantFrom(2n ** 53n, 2n ** 63n, 2n ** 64n))
    .map(([by, at]) => `${at + by}`),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.stringMatching(/^-?[0-9]{1,24}\.[0-9]{1,24}([eE][-+]?[0-9]{1,2})?$/),
  fc.stringMatching(/^-?[0-9]{1,5}[eE][-+]?[0-9]{1,2}$/),
);

const scalarNode: fc.Arbitrary<Node> = fc
  .oneof(
    { weight: 3, arbitrary: fc.stringMatching(/^[a-z][a-z0-9./-]{0,12}[a-z0-9]$/) },
    { weight: 1, arbitrary: fc.constantFrom(...plainEnough, ...plainEnough, ...plainEnough, ...awkward) },
    { weight: 2, arbitrary: quoted },
    { weight: 1, arbitrary: words },
    { weight: 2, arbitrary: fc.integer({ min: -100_000, max: 100_000 }).map(String) },
    { weight: 1, arbitrary: number },
    {
      weight: 1,
      arbitrary: fc.constantFrom("true", "false", "", "[]", "{}", "[a, b]", '["-c", "x y"]', "{a: b}", "[[1, 2], [x]]"),
    },
  )
  .map(scalar);

const literalNode: fc.Arbitrary<Node> = fc.record({
  kind: fc.constant("literal" as const),
  header: fc.constantFrom(..."| |- | |- | |- | |- | |- | |- | |- |+ > >-".split(" ")),
  lines: fc
    .tuple(
      fc.stringMatching(/^[a-z#:'"{-]{1,6}$/),
      fc.array(
        fc.oneof(printable, words, fc.constantFrom("", "  indented", "trail ", "# no comment", "a: b", "x\ty")),
        {
          maxLength: 3,
        },
      ),
    )
    .map(([first, rest]) => [first, ...rest]),
});

/** No number with a letter after it: go-yaml's order of such keys differs from run to run. */
const key = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z][a-zA-Z]{0,6}[0-9]{0,2}$/) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("a1", "a10", "a2", "A", "a-b", "a.b/c", "a_b", "a01", "on1", "key.yaml"),
  },
  { weight: 1, arbitrary: fc.constantFrom('"on"', "'y'", '"1"', '"a b"', '"a: b"', "y", "no") },
);

export const { value } = fc.letrec<{ value: Node }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: "value" },
    { weight: 6, arbitrary: scalarNode },
    { weight: 1, arbitrary: literalNode },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(fc.tuple(key, tie("value")), {
          minLength: 1,
          maxLength: 4,
          selector: ([name]) => name.replaceAll(/['"]/g, ""),
        })
        .map((entries) => mapping(entries)),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("sequence" as const),
        items: fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
        indented: fc.boolean(),
      }),
    },
  ),
}));

export const fields = fc
  .uniqueArray(fc.tuple(key, value), { maxLength: 5, selector: ([name]) => name.replaceAll(/['"]/g, "") })
  .map((entries) => mapping(entries));

/** Block style, starting where a value follows `key:` or `-`. */
export function render(node: Node, indent: number): string {
  const margin = " ".repeat(indent);
  switch (node.kind) {
    case "scalar":
      return node.text === "" ? "" : ` ${node.text}`;
    case "literal":
      return ` ${node.header}\n${node.lines.map((line) => (line === "" ? "" : `${margin}  ${line}`)).join("\n")}`;
    case "mapping":
      if (node.entries.length === 0) return " {}";
      return `\n${node.entries.map(([name, inner]) => `${margin}${name}:${render(inner, childIndent(inner, indent))}`).join("\n")}`;
    case "sequence":
      return `\n${node.items.map((item) => `${margin}-${renderItem(item, indent)}`).join("\n")}`;
  }
}

/** The first key of a mapping follows the dash on its line. */
function renderItem(item: Node, indent: number): string {
  const text = render(item, indent + 2);
  return item.kind === "mapping" && text.startsWith("\n") ? ` ${text.trimStart()}` : text;
}

function childIndent(inner: Node, indent: number): number {
  return inner.kind === "sequence" && !inner.indented ? indent : inner.kind === "literal" ? indent : indent + 2;
}
