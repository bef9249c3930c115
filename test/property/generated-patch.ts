import fc from "fast-check";
import type { Patch } from "../../lib/api/patch.ts";
import { type Node, printable } from "./generated-yaml.ts";

/** Values of a patch, as JSON. */
const patchValue = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.oneof(printable, fc.constantFrom("nginx:9", "yes", "0o17", "1e3", "null", "2001-12-14", "~")),
  },
  {
    weight: 3,
    arbitrary: fc.oneof(
      fc.integer({ min: -100_000, max: 100_000 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.constantFrom("a", "b", "on", "a1"), fc.oneof(printable, fc.nat()), {
      minKeys: 1,
      maxKeys: 2,
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>([], {}, null, [1, "x"], [{ a: null }]) },
);
const patchPath = fc.constantFrom(
  ...["/data/new", "/data/a", "/spec/new", "/spec/more/x", "/spec/replicas", "/spec/template/spec/containers/0/image"],
  ...["/spec/template/spec/containers/-", "/spec/template/spec/containers/0", "/spec/template/spec/containers/1/args"],
  ...[
    "/metadata/labels/app",
    "/metadata/annotations/a.test~1b",
    "/metadata/labels",
    "/metadata/name",
    "/kind",
    "/spec",
  ],
);
const target = fc.record(
  {
    kind: fc.constantFrom("Deployment", "ConfigMap", "Widget", "Service", "Nothing"),
    name: fc.constantFrom("a", "web", "[a-m].*"),
    group: fc.constantFrom("apps", "example.test"),
    version: fc.constant("v1"),
  },
  { requiredKeys: [] },
);
const operation = fc
  .record({ op: fc.constantFrom("add", "replace", "remove"), path: patchPath, value: patchValue })
  .map(({ op, path, value: given }) => (op === "remove" ? { op, path } : { op, path, value: given }));
const nested = (path: string, given: unknown): unknown =>
  path
    .split("/")
    .slice(1)
    .filter((name) => !/^[-0-9]$/.test(name))
    .reduceRight<unknown>((inner, name) => ({ [name.replaceAll("~1", "/")]: inner }), given);
export const patch = fc.oneof(
  fc.record({ patch: fc.array(operation, { minLength: 1, maxLength: 2 }).map((all) => JSON.stringify(all)), target }),
  fc
    .record({ path: patchPath, given: patchValue, target, at: fc.option(fc.nat({ max: 20 }), { nil: undefined }) })
    .map((merge) => ({ merge })),
);
type GeneratedPatch = typeof patch extends fc.Arbitrary<infer One> ? One : never;

function textAt(node: Node, ...path: readonly string[]): string {
  const inner = path.reduce<Node | undefined>(
    (at, name) => (at?.kind === "mapping" ? at.entries.find(([key_]) => key_ === name)?.[1] : undefined),
    node,
  );
  return inner?.kind === "scalar" ? inner.text.replaceAll('"', "") : "";
}

/** A merge patch, which names one of the objects itself or has a target. */
export function specPatch(one: GeneratedPatch, objects: readonly Node[]): Patch {
  if (!("merge" in one)) return one;
  const { path, given, target: meant, at } = one.merge;
  const object = at === undefined ? undefined : objects[at % Math.max(objects.length, 1)];
  const content = nested(path, given);
  const head = object && {
    apiVersion: textAt(object, "apiVersion"),
    kind: textAt(object, "kind"),
    metadata: {
      name: textAt(object, "metadata", "name"),
      ...(textAt(object, "metadata", "namespace") !== "" && { namespace: textAt(object, "metadata", "namespace") }),
    },
  };
  const any = { apiVersion: "v1", kind: "Any", metadata: { name: "any" } };
  const body: object = typeof content === "object" && content !== null ? content : {};
  const metadata = "metadata" in body && typeof body.metadata === "object" ? body.metadata : {};
  const { metadata: named, ...identity } = head ?? any;
  const text = JSON.stringify({ ...identity, ...body, metadata: { ...named, ...metadata } });
  return { patch: text, ...(head === undefined && { target: meant }) };
}
