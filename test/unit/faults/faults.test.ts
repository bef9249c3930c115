import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseFaults } from "../../faults/choose-faults.ts";
import { type Fault, faultsToTry, withMistake } from "../../faults/fault.ts";
import { fileFaults } from "../../faults/files.ts";
import { isTitlePart, mayHaveTestNamed } from "../../faults/named-tests.ts";
import { readArguments } from "../../faults/read-arguments.ts";

const root = join(import.meta.dirname, "../../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe.each(fileFaults)("the faults of $file", ({ file, tests, faults }) => {
  test("match the current code, which still parses with each of them", () => {
    const text = read(file);
    for (const fault of faults) {
      const planted = withMistake(fault, text);
      expect(planted).not.toBe(text);
      // Throws where it does not parse.
      expect(stripTypeScriptTypes(planted)).not.toBe("");
    }
  });

  test("name existing tests, and each fault has a unique description", () => {
    const named = [tests, ...faults.map((fault) => ("equivalent" in fault ? [] : (fault.tests ?? [])))].flat();
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const mistakes = fileFaults.filter((one) => one.file === file).flatMap((one) => one.faults.map(({ what }) => what));
    expect(mistakes.toSorted()).toEqual([...new Set(mistakes)].toSorted());
  });

  test("limit their tests to names that a test in the listed files has", () => {
    const limited = faultsToTry([{ file, tests, faults }]).flatMap(({ named, ...fault }) =>
      named === undefined ? [] : [{ named, tests: fault.tests }],
    );
    const lost = limited.filter((one) => !one.tests.some((path) => mayHaveTestNamed(one.named, path, root)));
    expect(lost).toEqual([]);
  });
});

test.each([
  { title: '"refuses a token"', words: "a token", isFound: true },
  { title: '"refuses a key"', words: "a token", isFound: false },
  { title: '"frees its share within 30 s: %i"', words: "within 30 s: 1", isFound: true },
  { title: '"is refused if %s is ready and waits"', words: "another is ready and waits", isFound: true },
  { title: "`inventory: ${name}`", words: "inventory: DynamoDB", isFound: true },
  { title: "`inventory: ${name}`", words: "inventories: DynamoDB", isFound: false },
])("whether the words '$words' can be in the name of the test $title: $isFound", ({ title, words, isFound }) => {
  expect(isTitlePart(words, `test(${title}, () => {});`)).toBe(isFound);
});

describe("a planted fault", () => {
  const mistake = { what: "counts down", find: "+= 1", replace: "-= 1" };

  test("replaces the only occurrence of its text", () => {
    expect(withMistake(mistake, "count += 1;")).toBe("count -= 1;");
  });

  test.each([
    ["count += 2;", "not there"],
    ["a += 1; b += 1;", "there 2 times"],
  ])("in %s is an error of the list: %s", (text, words) => {
    expect(() => withMistake(mistake, text)).toThrow(words);
  });
});

describe("which planted faults are run", () => {
  const faults = Array.from({ length: 40 }, (_, index): Fault => {
    const file = `lib/${index < 20 ? "queue" : "apply"}/${index}.ts`;
    return {
      what: `mistake ${index}.`,
      file,
      find: "a",
      replace: "b",
      tests: [`test/${index}.test.ts`],
      named: undefined,
    };
  });
  const nothing = { all: false, files: [], what: undefined, changed: new Set<string>(), most: 100 };
  const chosen = (more: Partial<Parameters<typeof chooseFaults>[1]>) =>
    chooseFaults(faults, { ...nothing, ...more }).map((fault) => faults.indexOf(fault));

  test("by default those whose file or test has changed", () => {
    expect(chosen({ changed: new Set(["lib/queue/5.ts", "test/26.test.ts", "README.md"]) })).toEqual([5, 26]);
    expect(chosen({})).toEqual([]);
  });

  test("at most as many as requested, spread over those that have changed", () => {
    const changed = new Set(faults.map(({ file }) => file));
    expect(chosen({ changed, most: 4 })).toEqual([0, 10, 20, 30]);
    expect(chosen({ changed, most: 40 })).toHaveLength(40);
    expect(chosen({ all: true, most: 4 })).toHaveLength(40);
  });

  test("or all, or those of a file or folder, or with these words, whatever has changed", () => {
    expect(chosen({ all: true })).toHaveLength(40);
    expect(chosen({ files: ["lib/queue/5.ts", "lib/apply/39"] })).toEqual([5, 39]);
    expect(chosen({ what: "mistake 7." })).toEqual([7]);
    expect(chosen({ files: ["lib/apply"], what: "9." })).toEqual([29, 39]);
  });
});

test("an equivalent fault is not run, and one with its own tests is run with those", () => {
  const fault = { what: "w", find: "f", replace: "r" };
  const listed = {
    file: "a.ts",
    tests: ["a.test.ts"],
    faults: [
      { ...fault, equivalent: "why" },
      { ...fault, tests: ["b.test.ts"] },
      { ...fault, named: "n" },
    ],
  };
  expect(faultsToTry([listed]).map(({ tests, named }) => [tests, named])).toEqual([
    [["b.test.ts"], undefined],
    [["a.test.ts"], "n"],
  ]);
});

describe("npm run faults", () => {
  test("parses its options", () => {
    const usual = { all: false, since: undefined, most: Number.POSITIVE_INFINITY, tested: false };
    expect(readArguments(["--file", "lib/queue", "--file", "lib/gate", "-t", "uid", "--jobs", "2"])).toEqual({
      ...{ ...usual, files: ["lib/queue", "lib/gate"], what: "uid", jobs: 2 },
    });
    expect(readArguments(["--most", "40", "--tested"])).toMatchObject({ most: 40, tested: true });
    expect(readArguments(["--help"])).toBe("help");
    expect(() => readArguments(["--jobs", "0"])).toThrow("--jobs: a whole number from 1 on");
    expect(() => readArguments(["--most", "few"])).toThrow("--most: a whole number from 1 on");
  });

  test.each([
    { args: ["--help"], status: 0, says: /^usage: npm run faults/ },
    { args: ["--fiel", "lib"], status: 2, says: /^Unknown option '--fiel'.*\nusage: npm run faults/ },
    {
      args: ["--file", "lib/misspelled"],
      status: 1,
      says: /\nno listed fault is of these files and has these words\n$/,
    },
  ])("with $args ends with $status", ({ args, status, says }) => {
    const ended = spawnSync(process.execPath, ["test/faults/run.ts", ...args], { cwd: root, encoding: "utf8" });
    expect([ended.status, ended.stdout + ended.stderr]).toEqual([status, expect.stringMatching(says)]);
  });
});
