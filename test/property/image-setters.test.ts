import fc from "fast-check";
import { expect, test } from "vitest";
import { setImages } from "../unit/image/setters/set-file.ts";

const chosen = { setter: "apps:web", name: "registry.test/web", tag: "1.1.0", digest: "sha256:abc" };
const images = new Map([["apps:web", chosen]]);

const values: ReadonlyMap<string, string> = new Map([
  ["apps:web", "registry.test/web:1.1.0@sha256:abc"],
  ["apps:web:tag", "1.1.0"],
  ["apps:web:name", "registry.test/web"],
  ["apps:web:digest", "sha256:abc"],
]);

/** A part of a file: text that stays, or a scalar before and after. */
type Part = string | { readonly before: string; readonly after: string };

const comment = (setter: string): string => `# {"$imagepolicy": "${setter}"}`;
const setters = fc.constantFrom(...values.entries());
const blanks = fc.constantFrom(" ", "  ", "\t", " \t ");
const plain = fc.constantFrom(
  "old",
  "1",
  "1.0",
  "true",
  "~",
  "registry.test/web:1.0.0@sha256:0",
  "a b",
  "v1:x",
  "é😀",
  "x#y",
);
const quotedOld = fc.string({ unit: fc.constantFrom(...Array.from("abc 019:#'[]{},*&é")), maxLength: 8 });

/** A scalar of one line, as it is and with this value. */
const inline = (value: string): fc.Arbitrary<Part> =>
  fc.oneof(
    plain.map((old) => ({ before: old, after: value })),
    quotedOld.map((old) => ({ before: `'${old.replaceAll("'", "''")}'`, after: `'${value}'` })),
    quotedOld.map((old) => ({ before: JSON.stringify(old), after: `"${value}"` })),
    fc
      .tuple(fc.constantFrom("&x ", "!t ", "!!str "), plain)
      .map(([property, old]) => ({ before: `${property}${old}`, after: `${property}${value}` })),
  );

/** A marked scalar behind its key or dash, up to the end of the line. */
const marked = (indent: string): fc.Arbitrary<readonly Part[]> =>
  setters.chain(([setter, value]) =>
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.tuple(inline(value), blanks).map(([scalar, space]) => [scalar, `${space}${comment(setter)}\n`]),
      },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom("|", ">", "|-", ">+", "|2")
          .map((header) => [
            { before: header, after: `${header.slice(0, 1)}-` },
            ` ${comment(setter)}\n${indent}  `,
            { before: "old text", after: value },
            "\n",
          ]),
      },
      {
        weight: 1,
        arbitrary: inline(value).map((scalar) => ["[a,", scalar, `, ${comment(setter)}\nb, {c: d}\n]\n`]),
      },
    ),
  );

const unmarked = fc
  .constantFrom(
    "a",
    '"b # c"',
    "'d'",
    "[e, f]",
    "{g: h}",
    "[\n]",
    "~ # c",
    "{{ .Values.x }}",
    '"a\n  b"',
    `i # ${comment("apps:web")}`,
  )
  .map((text): readonly Part[] => [`${text}\n`]);

const between = fc.constantFrom("", "", "", "\n", "# c\n", "\n# c\n\n");

/** A mapping in block style. */
const mapping = (indent: string, depth: number): fc.Arbitrary<readonly Part[]> =>
  fc
    .array(fc.tuple(between, node(indent, depth)), { minLength: 1, maxLength: 4 })
    .map((nodes) => nodes.flatMap(([above, parts], at): readonly Part[] => [above, `${indent}k${at}:`, ...parts]));

const node = (indent: string, depth: number): fc.Arbitrary<readonly Part[]> => {
  const leaf = fc.oneof(marked(indent), unmarked).map((parts): readonly Part[] => [" ", ...parts]);
  if (depth === 0) return leaf;
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("  ", "    ")
        .chain((more) => mapping(`${indent}${more}`, depth - 1))
        .map((parts): readonly Part[] => ["\n", ...parts]),
    },
    { weight: 1, arbitrary: sequence(indent) },
  );
};

const sequence = (indent: string): fc.Arbitrary<readonly Part[]> =>
  fc
    .array(
      fc.oneof(
        marked(indent).map((parts): readonly Part[] => [`${indent}- `, ...parts]),
        setters.chain(([setter, value]) =>
          inline(value).map((scalar): readonly Part[] => [`${indent}${comment(setter)}\n${indent}-  `, scalar, "\n"]),
        ),
        fc.constant([`${indent}- a\n`]),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((items) => ["\n", `${indent}- first\n`, ...items.flat()]);

const file = fc
  .tuple(
    fc.constantFrom("", "\ufeff", "---\n", "# head\n\n---\n"),
    fc.array(mapping("", 2), { minLength: 1, maxLength: 3 }),
    fc.constantFrom("\n", "\r\n"),
  )
  .map(([head, documents, lineEnd]) => {
    const parts = [head, ...documents.flatMap((document, at) => (at === 0 ? document : ["---\n", ...document]))];
    const text = (side: "after" | "before"): string =>
      parts
        .map((part) => (typeof part === "string" ? part : part[side]))
        .join("")
        .replaceAll("\n", lineEnd);
    return { before: text("before"), after: text("after") };
  });

function setIn(text: string): string {
  const change = setImages({ path: "a.yaml", content: Buffer.from(text) }, images);
  return change === undefined ? text : Buffer.from(change.content).toString();
}

test("markers change the marked scalars, and no other byte; a second time they change nothing", () => {
  fc.assert(
    fc.property(file, ({ before, after }) => {
      expect(setIn(before)).toBe(after);
      expect(setIn(after)).toBe(after);
    }),
  );
});
