import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { titlesOf } from "./titles-of.ts";

const root = join(import.meta.dirname, "../../..");

/** A document on one line, so that a title may be wrapped. */
async function read(path: string): Promise<string> {
  return (await readFile(join(root, path), "utf8")).replaceAll(/\s+/g, " ");
}

interface NamedTest {
  readonly path: string;
  readonly title: string;
}

/** A file of tests, and the titles that follow it: `path.ts` "title", "another title of that file". */
const fileWithTitles = /`([\w./-]+\.ts)` ((?:(?:, )?"[^"]+")+)/g;
const file = /`(?:bench|contract|e2e|limits|property|unit)\/[\w./-]+\.ts`/g;

function testsNamedIn(text: string): readonly NamedTest[] {
  return [...text.matchAll(fileWithTitles)].flatMap(([, path = "", titles = ""]) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => ({ path, title })),
  );
}

const withTests = ["SECURITY.md", "docs/threat-model.md"];

test.each([...withTests, "docs/differences-from-flux.md"])(
  "the tests that %s names by their titles exist",
  async (document) => {
    const named = testsNamedIn(await read(document));
    expect(named.length).toBeGreaterThan(5);
    const missing: NamedTest[] = [];
    for (const one of named) {
      const source = await readFile(join(root, "test", one.path), "utf8").catch(() => "");
      if (!titlesOf(source).includes(one.title)) missing.push(one);
    }
    expect(missing).toEqual([]);
  },
);

test.each(withTests)("%s gives the title of a test wherever it names a test file", async (document) => {
  const text = await read(document);
  expect(text.match(fileWithTitles)?.length).toBe(text.match(file)?.length);
});

describe("the promises of SECURITY.md", () => {
  const promises = async () =>
    (await read("SECURITY.md"))
      .split(/(?=- \*\*P\d+\*\* )/)
      .slice(1)
      .map((text) => ({ id: /P\d+/.exec(text)?.[0] ?? "", text }));

  test("are numbered from one on", async () => {
    const ids = (await promises()).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, index) => `P${index + 1}`));
  });

  test("each name a test that shows it", async () => {
    const bare = (await promises()).filter(({ text }) => testsNamedIn(text).length === 0);
    expect(bare).toEqual([]);
  });

  test("are those in the threat model", async () => {
    const spokenOf = new Set((await read("docs/threat-model.md")).match(/\bP\d+\b/g));
    const ids = (await promises()).map(({ id }) => id);
    const missing = ids.filter((id) => !spokenOf.has(id));
    expect({ missing, unknown: [...spokenOf].filter((id) => !ids.includes(id)) }).toEqual({ missing: [], unknown: [] });
  });
});

test("a missing test would be found", () => {
  const text = 'As `unit/a.test.ts` "one", "two (7)"; `unit/b.test.ts` "three" shows.';
  expect(testsNamedIn(text)).toEqual([
    { path: "unit/a.test.ts", title: "one" },
    { path: "unit/a.test.ts", title: "two (7)" },
    { path: "unit/b.test.ts", title: "three" },
  ]);
});
