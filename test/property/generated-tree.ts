import fc from "fast-check";
import type { PlainFile, PlainSpec } from "../../lib/manifests/build-plain.ts";

/** A folder of plain YAML in many spellings, and what a spec asks of it. */
export interface GeneratedTree {
  readonly files: readonly PlainFile[];
  readonly spec: PlainSpec;
}

type Node =
  | { readonly kind: "scalar"; readonly text: string }
  | { readonly kind: "literal"; readonly header: string; readonly lines: readonly string[] }
  | { readonly kind: "mapping"; readonly entries: readonly (readonly [string, Node])[] }
  | { readonly kind: "sequence"; readonly items: readonly Node[]; readonly indented: boolean };

const scalar = (text: string): Node => ({ kind: "scalar", text });
const mapping = (entries: readonly (readonly [string, Node | undefined])[]): Node => ({
  kind: "mapping",
  entries: entries.flatMap(([key, node]) => (node === undefined ? [] : [[key, node] as const])),
});

/** Plain scalars over which YAML readers fall out, and many that look as if they might. */
export const awkward: readonly string[] =
  "yes no on off y n Yes NO true True false null ~ 0 -0 1 -1 007 0755 0o17 0x1F 0b101 1_000 1e3 1E5 -2.50 0.10 1.0 .5 5. +1 10.0.0.1 1.2.3 v1.2.3 22:22 1:30 12:30:45 2001-12-14 2001-12-14T21:59:43Z 2001-1-2 50m 32Mi 0.5 100% -c --flag - a-b .hidden .. ... = << ? : :x x:y a,b [] {} '' \"\" 'it''s' \"a\\tb\" \"a\\nb\" \"a\\nb\\n\" \" lead\" 'trail ' \"a #b\" 'a: b' '- a' \"123\" 'true' \"null\" \"~\" \"1e3\" \"0x1F\" \"2001-12-14\" \"22:22\" 'é' ünïcode \"\\u00e9\" 😀 '😀 smile' '#x' '@x' '`x' '%x' '!x' '&x' '*x' '|x' '>x' \"?x\" '? x' ',x' '[x' '{x' x#y 9007199254740991 123456789012 1234567.5 0.0001 99999.5 100000.5 -e -0.0 +.5 0o 0x 1__0 -1_0 1.e3 12e03 2020-01 2020-13-45 2020-02-30 1e400 0x1p4 .5_0 1_0.5 Infinity NaN .nan .Inf -.inf NULL Null TRUE ON".match(
    /"[^"]*"|'(?:[^']|'')*'|\S+/g,
  ) ?? [];

/** Those of them that no builder has to think about. */
const plainEnough = awkward.filter(
  (text) => (/^[a-z\d.-]+$/i.test(text) && !/^[-+.\d]/.test(text)) || /^['"[{]/.test(text),
);

const printable = fc.string({
  unit: fc.constantFrom(...Array.from("abcXYZ 019-_.:,#'\"\\/{}[]&*!|>%@`?=+~é漢")),
  maxLength: 24,
});
const words = fc
  .array(fc.stringMatching(/^[a-z]{1,14}$/), { minLength: 8, maxLength: 30 })
  .map((list) => list.join(" "));
const quoted = fc
  .oneof(printable, words)
  .chain((text) => fc.constantFrom(JSON.stringify(text), `'${text.replaceAll("'", "''")}'`));

const scalarNode: fc.Arbitrary<Node> = fc
  .oneof(
    { weight: 3, arbitrary: fc.stringMatching(/^[a-z][a-z0-9./-]{0,12}[a-z0-9]$/) },
    { weight: 1, arbitrary: fc.constantFrom(...plainEnough, ...plainEnough, ...plainEnough, ...awkward) },
    { weight: 2, arbitrary: quoted },
    { weight: 1, arbitrary: words },
    { weight: 2, arbitrary: fc.integer({ min: -100_000, max: 100_000 }).map(String) },
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

/** No number with a letter after it: over those go-yaml's order of keys differs from run to run. */
const key = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z][a-zA-Z]{0,6}[0-9]{0,2}$/) },
  {
    weight: 2,
    arbitrary: fc.constantFrom("a1", "a10", "a2", "A", "a-b", "a.b/c", "a_b", "a01", "on1", "key.yaml"),
  },
  { weight: 1, arbitrary: fc.constantFrom('"on"', "'y'", '"1"', '"a b"', '"a: b"', "y", "no") },
);

const { value } = fc.letrec<{ value: Node }>((tie) => ({
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

const fields = fc
  .uniqueArray(fc.tuple(key, value), { maxLength: 5, selector: ([name]) => name.replaceAll(/['"]/g, "") })
  .map((entries) => mapping(entries));

const image = fc
  .constantFrom(
    "nginx",
    "nginx:1.25",
    "nginx@sha256:abc",
    "nginx:1.2@sha256:abc",
    "reg.test:5000/app/web:v1",
    "app",
    "app-nginx:1",
    '"nginx"',
    "nginxx:1",
  )
  .map(scalar);
const containers: fc.Arbitrary<Node> = fc
  .array(fc.record({ image: fc.option(image, { nil: undefined }), args: fc.option(value, { nil: undefined }) }), {
    minLength: 1,
    maxLength: 2,
  })
  .chain((list) =>
    fc.boolean().map((indented) => ({
      kind: "sequence" as const,
      indented,
      items: list.map((container, index) =>
        mapping([
          ["name", scalar(`c${index}`)],
          ["image", container.image],
          ["args", container.args],
        ]),
      ),
    })),
  );

const kinds: readonly (readonly [
  string,
  string,
  (name: string) => fc.Arbitrary<readonly (readonly [string, Node])[]>,
])[] = [
  ["v1", "ConfigMap", () => fields.map((data) => [["data", data]])],
  ["v1", "Secret", () => fields.map((data) => [["stringData", data]])],
  ["example.test/v1", "Widget", () => fields.map((spec) => [["spec", spec]])],
  [
    "v1",
    "Service",
    (name) =>
      fields.map((rest) => [
        [
          "spec",
          mapping([
            ["selector", mapping([["app", scalar(name)]])],
            ["more", rest],
          ]),
        ],
      ]),
  ],
  ["rbac.authorization.k8s.io/v1", "ClusterRole", () => fields.map((rules) => [["aggregationRule", rules]])],
  ["storage.k8s.io/v1", "StorageClass", () => fields.map((parameters) => [["parameters", parameters]])],
  ["apiextensions.k8s.io/v1", "CustomResourceDefinition", () => fields.map((spec) => [["spec", spec]])],
  ["policy/v1", "PodDisruptionBudget", () => fields.map((spec) => [["spec", spec]])],
  [
    "apps/v1",
    "Deployment",
    (name) =>
      fc.record({ containers, init: fc.option(containers, { nil: undefined }) }).map(({ containers: main, init }) => [
        [
          "spec",
          mapping([
            ["selector", mapping([["matchLabels", mapping([["app", scalar(name)]])]])],
            [
              "template",
              mapping([
                [
                  "spec",
                  mapping([
                    ["initContainers", init],
                    ["containers", main],
                  ]),
                ],
              ]),
            ],
          ]),
        ],
      ]),
  ],
  ["v1", "Namespace", () => fc.constant([])],
];

const metadataText = fc.uniqueArray(fc.tuple(fc.constantFrom("app", "tier", "a.test/b", "z"), quoted), {
  minLength: 1,
  maxLength: 3,
  selector: ([name]) => name,
});

const objectNode: fc.Arbitrary<Node> = fc
  .tuple(
    fc.constantFrom(...kinds.slice(0, -1), ...kinds.slice(0, -1), ...kinds.slice(0, -1), ...kinds),
    fc.stringMatching(/^[a-z]{1,3}[0-9]{0,2}$/),
  )
  .chain(([[apiVersion, kind, content], name]) =>
    fc
      .record({
        content: content(name),
        namespace: fc.option(fc.constantFrom("default", "team-a"), { nil: undefined }),
        labels: fc.option(metadataText, { nil: undefined }),
        annotations: fc.option(metadataText, { nil: undefined }),
        nulls: fc.boolean(),
      })
      .chain(({ content: rest, namespace, labels, annotations, nulls }) => {
        const texts = (pairs: readonly (readonly [string, string])[] | undefined): Node | undefined =>
          pairs && mapping(pairs.map(([label, text]) => [label, scalar(text)] as const));
        const metadata = mapping([
          ["name", scalar(/^(y|n|on|no|off)$/.test(name) ? `"${name}"` : name)],
          ["namespace", namespace === undefined ? undefined : scalar(namespace)],
          ["labels", texts(labels)],
          ["annotations", texts(annotations)],
          ["creationTimestamp", nulls ? scalar("null") : undefined],
        ]);
        const top = [
          ["apiVersion", scalar(apiVersion)],
          ["kind", scalar(kind)],
          ["metadata", metadata],
          ...rest,
        ] as const;
        return fc.shuffledSubarray([...top], { minLength: top.length }).map((entries) => mapping(entries));
      }),
  );

const file = fc.record({
  path: fc.stringMatching(/^([a-c]\/){0,2}[a-e.-]{0,3}[a-e]\.ya?ml$/),
  documents: fc.array(objectNode, { minLength: 0, maxLength: 4 }),
  separator: fc.constantFrom("---\n", "--- # next\n", "---\n# a comment\n", "---\n\n"),
  start: fc.constantFrom("", "---\n", "# head\n", "\n"),
  lineEnd: fc.constantFrom("\n", "\n", "\n", "\r\n"),
});

export const generatedTree: fc.Arbitrary<GeneratedTree> = fc
  .record({
    files: fc.uniqueArray(file, { minLength: 1, maxLength: 5, selector: ({ path }) => path }),
    spec: fc.record(
      {
        targetNamespace: fc.constantFrom("team-b", "default", "x1"),
        namePrefix: fc.constantFrom("dev-", "p", "1-"),
        nameSuffix: fc.constantFrom("-v2", "s"),
        images: fc.array(
          fc.record(
            {
              name: fc.constantFrom("nginx", "app", "reg.test:5000/app/web"),
              newName: fc.constantFrom("nginx", "other/img"),
              newTag: fc.constantFrom("v9", "1.0"),
              digest: fc.constant("sha256:def"),
            },
            { requiredKeys: ["name"] },
          ),
          { maxLength: 2 },
        ),
      },
      { requiredKeys: [] },
    ),
  })
  .filter(({ files }) => files.every(({ path }) => !files.some((other) => other.path.startsWith(`${path}/`))))
  .map(({ files, spec }) => ({
    spec,
    files: files.map(({ path, documents, separator, start, lineEnd }) => {
      const text = start + documents.map((document) => `${render(document, 0).replace(/^\n/, "")}\n`).join(separator);
      return { path, content: Buffer.from(text.replaceAll("\n", lineEnd)) };
    }),
  }));

/** Block style, starting where a value follows `key:` or `-`. */
function render(node: Node, indent: number): string {
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
