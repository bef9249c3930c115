import fc from "fast-check";
import type { PlainFile, PlainSpec } from "../../lib/manifests/build-plain.ts";
import { patch, specPatch } from "./generated-patch.ts";
import { fields, mapping, type Node, printable, quoted, render, scalar, value } from "./generated-yaml.ts";

/** A folder of plain YAML in many spellings, and a spec for it. */
export interface GeneratedTree {
  readonly files: readonly PlainFile[];
  readonly spec: PlainSpec;
}

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
    patches: fc.option(fc.array(patch, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 1 }),
  })
  .filter(({ files }) => files.every(({ path }) => !files.some((other) => other.path.startsWith(`${path}/`))))
  .map(({ files, spec, patches }) => ({
    spec: {
      ...spec,
      ...(patches !== undefined && {
        patches: patches.map((one) =>
          specPatch(
            one,
            files.flatMap(({ documents }) => documents),
          ),
        ),
      }),
    },
    files: files.map(({ path, documents, separator, start, lineEnd }) => {
      const text = start + documents.map((document) => `${render(document, 0).replace(/^\n/, "")}\n`).join(separator);
      return { path, content: Buffer.from(text.replaceAll("\n", lineEnd)) };
    }),
  }));

const plainText = fc.oneof(printable, fc.constantFrom("yes", "1e3", "0o17", "a: b", "two\nlines\n"));
const plainData = fc.dictionary(fc.constantFrom("a", "b", "c-d"), plainText, { minKeys: 1 });
const plainObject = fc.oneof(
  plainData.map((data) => ["v1", "ConfigMap", { data }] as const),
  fc.record({ a: fc.nat(), more: plainData }).map((spec) => ["example.test/v1", "Widget", { spec }] as const),
  fc.nat({ max: 9 }).map((replicas) => {
    const one = [
      { name: "c0", image: "nginx:1", args: ["-x", "1"] },
      { name: "c1", image: "app" },
    ];
    return ["apps/v1", "Deployment", { spec: { replicas, template: { spec: { containers: one } } } }] as const;
  }),
);

/** Objects that are built in process without a doubt, and patches that meet them. */
export const patchedTree: fc.Arbitrary<GeneratedTree> = fc
  .record({
    objects: fc.array(fc.tuple(plainObject, fc.boolean()), { minLength: 1, maxLength: 4 }),
    patches: fc.array(patch, { minLength: 1, maxLength: 3 }),
    namePrefix: fc.option(fc.constant("dev-"), { nil: undefined }),
  })
  .map(({ objects, patches, namePrefix }) => {
    const texts = (pairs: Readonly<Record<string, string>>) =>
      mapping(Object.entries(pairs).map(([name, text]) => [name, scalar(JSON.stringify(text))] as const));
    const names = ["a", "web", "b1", "z"];
    const documents = objects.map(([[apiVersion, kind, content], isLabelled], index) => {
      const metadata = mapping([
        ["name", scalar(names[index] ?? "")],
        ["labels", isLabelled ? texts({ app: "x" }) : undefined],
        ["annotations", isLabelled ? texts({ "a.test/b": "y" }) : undefined],
      ]);
      const fields_ = Object.entries(content).map(([name, inner]) => [name, scalar(JSON.stringify(inner))] as const);
      return mapping([["apiVersion", scalar(apiVersion)], ["kind", scalar(kind)], ["metadata", metadata], ...fields_]);
    });
    const text = documents.map((document) => `${render(document, 0).replace(/^\n/, "")}\n`).join("---\n");
    const spec = {
      patches: patches.map((one) => specPatch(one, documents)),
      ...(namePrefix !== undefined && { namePrefix }),
    };
    return { files: [{ path: "a.yaml", content: Buffer.from(text) }], spec };
  });
