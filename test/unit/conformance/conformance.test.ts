import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { listOfNumbers, numbersOf } from "./numbers.ts";
import { type Reference, references, statementsIn } from "./statements-in.ts";

const tests = join(import.meta.dirname, "../..");
const Statements = z.object({ last: z.number(), proven: z.string(), refused: z.string(), later: z.string() });
const Fixture = z.record(z.enum(references), Statements);

async function fixtureOf(reference: Reference) {
  const { last, ...lists } = Fixture.parse(
    JSON.parse(await readFile(join(tests, "fixtures/conformance.json"), "utf8")),
  )[reference];
  const numbers = (list: string) => (list === "" ? [] : numbersOf(list));
  return { last, proven: numbers(lists.proven), refused: numbers(lists.refused), later: numbers(lists.later) };
}

/** Path below `test/` -> the statements that the titles of that file name. */
const files = new Map<string, ReturnType<typeof statementsIn>>();

beforeAll(async () => {
  for await (const path of glob("**/*.ts", { cwd: tests, exclude: ["unit/conformance/**"] })) {
    files.set(path, statementsIn(path, await readFile(join(tests, path), "utf8")));
  }
});

/** Which statements of a reference the titles of the tests below these paths name. */
function named(reference: Reference, below: readonly string[] = [""]): ReadonlySet<number> {
  const there = [...files].filter(([path]) => below.some((one) => path.startsWith(one)));
  return new Set(there.flatMap(([, statements]) => [...(statements.get(reference) ?? [])]));
}

/** The rows of a reference in the table that people read: numbers, and the files that are said to prove them. */
async function rowsOf(reference: Reference) {
  const text = await readFile(join(tests, "../docs/conformance.md"), "utf8");
  const section = text.split(/^## /m).find((one) => one.startsWith(`${reference}.md`)) ?? "";
  const row = new RegExp(`^\\| (${listOfNumbers}) \\|([^|]*)\\|`, "gm");
  return [...section.matchAll(row)].map(([, list = "", where = ""]) => ({
    numbers: numbersOf(list),
    files: [...where.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
  }));
}

const ascending = (numbers: Iterable<number>) => [...numbers].toSorted((a, b) => a - b);

describe.each(references)("the statements of %s", (reference) => {
  test("are each proven, refused by name until they are built, or not yet a matter", async () => {
    const { last, proven, refused, later } = await fixtureOf(reference);
    expect(ascending([...proven, ...refused, ...later])).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  });

  test("have a test whose title carries the number, where they are proven or refused", async () => {
    const { proven, refused } = await fixtureOf(reference);
    const present = named(reference);
    expect([...proven, ...refused].filter((number) => !present.has(number))).toEqual([]);
  });

  test("stand in docs/conformance.md beside the tests that name them", async () => {
    const { proven, refused, later } = await fixtureOf(reference);
    const rows = await rowsOf(reference);
    expect(ascending(rows.flatMap(({ numbers }) => numbers))).toEqual(ascending([...proven, ...refused, ...later]));
    const wrong: string[] = [];
    for (const { numbers, files } of rows.filter((row) => row.files.length > 0)) {
      const there = named(reference, files);
      wrong.push(...numbers.filter((number) => !there.has(number)).map((number) => `${number} in ${files.join()}`));
    }
    expect(wrong).toEqual([]);
    const untested = rows.filter(({ files }) => files.length === 0).flatMap(({ numbers }) => numbers);
    expect(ascending(untested)).toEqual(ascending(later));
  });
});

describe("the statements that a test file names", () => {
  const of = (path: string, source: string, reference: Reference) =>
    ascending(statementsIn(path, source).get(reference) ?? []);

  test.each<{ what: string; source: string; reference: Reference; expected: number[] }>([
    {
      what: "in parentheses",
      source: 'test("a (7, 30 to 32)", f)',
      reference: "kustomization",
      expected: [7, 30, 31, 32],
    },
    { what: "of a table", source: "test.each([\n1])(`a ${b} (7)`, f)", reference: "kustomization", expected: [7] },
    { what: "of a row", source: '{ statements: "7 to 9, 12" }', reference: "kustomization", expected: [7, 8, 9, 12] },
    { what: "of a row that is a list", source: '  ["a (7)", 1],', reference: "kustomization", expected: [7] },
    {
      what: "of two sections",
      source: 'test("11.1/4, 27, 11.3/61: a", f)',
      reference: "sources",
      expected: [4, 27, 61],
    },
    { what: "none in a comment", source: "// a (7)\nexpect(x).toBe(5)", reference: "kustomization", expected: [] },
    { what: "none of a title without", source: 'test("a", f)', reference: "kustomization", expected: [] },
  ])("are found: $what", ({ source, reference, expected }) => {
    expect(of("unit/x.test.ts", source, reference)).toEqual(expected);
  });

  test("are the command line's in its own tests alone", () => {
    const source = 'test("a (7)", f)';
    expect(of("e2e/cli.test.ts", source, "cli")).toEqual([7]);
    expect(of("unit/cli/x.test.ts", source, "cli")).toEqual([7]);
    expect(of("unit/client.test.ts", source, "cli")).toEqual([]);
  });
});
