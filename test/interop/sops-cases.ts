import fc from "fast-check";

const margin = "    ";
const words = fc.constantFrom("a", "b", "key", "8080", "with space", "a:b", "é", "on", "null", "-", "#", "data", "c");
const key = fc.tuple(words, fc.nat({ max: 3 })).map(([word, number]) => `${word}${number}`);
const oddTexts = [
  "",
  "true",
  "1",
  "0x1f",
  "- x",
  "a: b",
  "#c",
  "x #y",
  "😀",
  "tab\tx",
  "two\nlines\n",
  "\nlead",
  "\n\n",
  "=",
  "~",
];
const text = fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: "grapheme-ascii", maxLength: 12 }));
const plain = [
  "1e6",
  "1234567.5",
  "-0.0",
  ".inf",
  "2024-05-06",
  "2024-05-06 07:08:09.120",
  "9223372036854775807",
  "null",
  "true",
];

/** sops encrypts no integer that fits an unsigned one of Go's only: "unknown type: uint64". */
const isUnsignedOnly = (line: string): boolean =>
  /^\d+$/.test(line) && BigInt(line) >= 2n ** 63n && BigInt(line) < 2n ** 64n;

const scalar = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom(...plain),
  fc.integer().map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map(String)
    .filter((line) => !isUnsignedOnly(line)),
);

/** A node as lines without their margin, the first of which continues the line of its key. */
type Lines = readonly string[];

const node = fc.letrec<{ value: Lines; list: Lines; map: Lines }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar.map((line) => [line]),
    tie("map"),
    tie("list"),
    fc.constantFrom(["[]"], ["{}"]),
  ),
  list: fc
    .array(
      fc.oneof(
        { maxDepth: 3 },
        scalar.map((line) => [line]),
        tie("map"),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map(listLines),
  map: mapOf(tie("value")),
}));

function mapOf(value: fc.Arbitrary<Lines>): fc.Arbitrary<Lines> {
  const entry = fc.tuple(key, value, fc.option(fc.constantFrom(" a comment", "x"), { freq: 4 }));
  return fc
    .uniqueArray(entry, { selector: ([name]) => name, minLength: 1, maxLength: 4 })
    .map((entries) => entries.flatMap(([name, lines, comment]) => entryLines(name, lines, comment)));
}

/** Comments stand between the entries of mappings: sops cannot read those again that it encrypts inside of lists. */
function entryLines(name: string, [first = "", ...rest]: Lines, comment: string | null): string[] {
  const head = comment === null ? [] : [`#${comment}`];
  const isBlock = rest.length > 0 || /^(-|".*":)( |$)/.test(first);
  if (!isBlock) return [...head, `${JSON.stringify(name)}: ${first}`];
  return [...head, `${JSON.stringify(name)}:`, ...[first, ...rest].map((line) => `${margin}${line}`)];
}

/** A comment in front of a mapping's first key would stand inside the list. */
function listLines(items: readonly Lines[]): string[] {
  return items.flatMap((lines) => {
    const [first = "", ...rest] = lines.slice(lines.findIndex((line) => !line.startsWith("#")));
    return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  });
}

/** Documents with mappings, lists, comments and all types of scalars. */
export const yamlText = fc
  .array(node.map, { minLength: 5, maxLength: 15 })
  .map((documents) => documents.map((lines) => `${lines.join("\n")}\n`).join("---\n"));

/** JSON objects with values of all types. */
export const jsonText = fc
  .dictionary(key, fc.jsonValue({ maxDepth: 4 }), { minKeys: 1, maxKeys: 12 })
  .map((value) => JSON.stringify(value));

const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,8}$/);

export const dotenvText = fc
  .array(fc.tuple(name, fc.string({ unit: "grapheme-ascii", maxLength: 20 })), { minLength: 1, maxLength: 10 })
  .map((entries) => entries.map(([key, value]) => `#${value}\n${key}=${value}\n`).join(""));

/** sops does not encrypt three quotes that are not closed. */
const iniValue = fc.stringMatching(/^[a-z0-9 .,'"_/-]{0,20}$/).filter((value) => !value.includes('""'));

export const iniText = fc
  .uniqueArray(fc.tuple(name, fc.array(fc.tuple(name, iniValue), { maxLength: 5 })), {
    selector: ([key]) => key,
    minLength: 1,
  })
  .map((sections) =>
    sections
      .map(
        ([section, keys]) =>
          `; of ${section}\n[${section}]\n${keys.map(([key, value]) => `${key} = ${value}\n`).join("")}`,
      )
      .join("\n"),
  );
