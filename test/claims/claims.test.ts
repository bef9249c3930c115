import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runVitest, vitestModule } from "../report/run-vitest.ts";
import { lastStatements, readClaims, statementsIn, tableFaults, unclaimedTitles, unprovenClaims } from "./claims.ts";
import { tellClaims } from "./tell-claims.ts";

const documentPath = join(import.meta.dirname, "../../docs/maintainers/conformance.md");

describe("docs/maintainers/conformance.md", () => {
  test("has each statement of the references in exactly one row", async () => {
    expect(tableFaults(readClaims(await readFile(documentPath, "utf8")))).toEqual([]);
  });

  test("is wrong if a statement is in two rows or in none, or does not exist", () => {
    const claim = (from: number, to: number) => ({
      reference: "cli" as const,
      numbers: Array.from({ length: to - from + 1 }, (_, index) => from + index),
      files: [],
    });
    const references = [
      "kustomization",
      "sources",
      "notifications",
      "helmrelease",
      "image-automation",
      "canary",
    ] as const;
    const others = references.map((reference) => ({
      reference,
      numbers: Array.from({ length: lastStatements[reference] }, (_, index) => index + 1),
      files: [],
    }));
    expect(tableFaults([...others, claim(1, 28), claim(28, 29), claim(31, 31)])).toEqual([
      "statement 28 of cli.md stands in 2 rows, and has to stand in one",
      "statement 31 of cli.md is listed, and there is none",
      "statement 30 of cli.md stands in 0 rows, and has to stand in one",
    ]);
  });
});

describe("the statement numbers in a title", () => {
  test.each<{ what: string; title: string; file?: string; expected: readonly string[] }>([
    { what: "in parentheses", title: "a (7, 30 to 32)", expected: ["K7", "K30", "K31", "K32"] },
    { what: "of two sections", title: "11.1/4, 27, 11.3/61: a", expected: ["S4", "S27", "S61"] },
    { what: "of HelmReleases", title: "23/7, 9: a (21)", expected: ["K21", "H7", "H9"] },
    { what: "of image automation", title: "image-automation/45, 46: a (21)", expected: ["K21", "I45", "I46"] },
    { what: "no step of a scenario", title: "image-automation/01-first-commit: a", expected: [] },
    { what: "no folder of that name", title: "golden/image-automation/02: a", expected: [] },
    { what: "of canaries", title: "canary/7, 9: a (21)", expected: ["K21", "F7", "F9"] },
    { what: "no step of a recorded canary", title: "canary-seed/07-progressing-w20: a", expected: [] },
    { what: "of both references", title: "11.1/12: a (21)", expected: ["K21", "S12"] },
    { what: "of the command line", title: "a (7)", file: "e2e/cli.test.ts", expected: ["C7"] },
    {
      what: "of receivers",
      title: "a delivery to github with 8, 9: JSON: 200",
      file: "unit/receiver/x.test.ts",
      expected: ["N8", "N9"],
    },
    {
      what: "of notifications",
      title: "62, 64: a status",
      file: "unit/notify/git/x.test.ts",
      expected: ["N62", "N64"],
    },
    { what: "of Alerts", title: "47: a heartbeat", file: "unit/notify/x.test.ts", expected: ["N47"] },
    { what: "no number before a colon in another place", title: "port 8: closed", expected: [] },
    { what: "no number that is attached to a word", title: "a call(64) of { kind: 'a', …(2) }", expected: [] },
    {
      what: "no number that its reference does not have, such as an HTTP status",
      title: "Invalid names (422, 7)",
      expected: ["K7"],
    },
    { what: "no number of a section", title: "Deployment (kustomization 3.17)", expected: [] },
    { what: "nothing without a number", title: "a", expected: [] },
  ])("are found: $what", ({ title, file = "unit/x.test.ts", expected }) => {
    const letters = { kustomization: "K", sources: "S", cli: "C", notifications: "N", helmrelease: "H" };
    const all = { ...letters, "image-automation": "I", canary: "F" };
    const found = statementsIn({ file, title }).map(({ reference, number }) => `${all[reference]}${number}`);
    expect(found).toEqual(expected);
  });
});

const document = `## kustomization.md
| statements | proven in | |
| --- | --- | --- |
| 1, 2 | \`unit/a/\`, \`unit/b.test.ts\` | |
| 3 | | a later issue |
`;

describe("a claim is wrong", () => {
  const claims = readClaims(document);
  const one = { file: "unit/a/x.test.ts", title: "does one (1)" };
  const two = { file: "unit/b.test.ts", title: "does two (2)" };

  test("never if its tests passed", () => {
    expect(unprovenClaims(claims, [one, two])).toEqual([]);
  });

  test("if no test in its files has its number", () => {
    expect(unprovenClaims(claims, [one, { ...two, file: "unit/c.test.ts" }])).toEqual([
      "statement 2 of kustomization.md has no test that passed in unit/a/, unit/b.test.ts",
      "unit/b.test.ts proves none of the statements 1, 2 of kustomization.md beside which it stands",
    ]);
  });

  test("if a test names a statement of a later issue, or a missing statement", () => {
    expect(unclaimedTitles(claims, [one, { file: "unit/c.test.ts", title: "does more (3, 64)" }])).toEqual([
      'unit/c.test.ts: "does more (3, 64)" names statement 3 of kustomization.md, which is not claimed',
      'unit/c.test.ts: "does more (3, 64)" names statement 64 of kustomization.md, which is not claimed',
    ]);
  });
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-claims-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A document with all statements, one of them claimed. */
async function writeDocument(where: string): Promise<string> {
  const rows = Object.entries(lastStatements).map(([reference, last]) =>
    reference === "kustomization"
      ? `## ${reference}.md\n| 1 | \`${where}\` | |\n| 2 to ${last} | | |\n`
      : `## ${reference}.md\n| 1 to ${last} | | |\n`,
  );
  const path = join(folder, "conformance.md");
  await writeFile(path, rows.join(""));
  return path;
}

describe("the check of CI", () => {
  const program = fileURLToPath(new URL("check-claims.ts", import.meta.url));
  const check = async (tests: readonly { fullName: string; status: string }[]) => {
    const report = join(folder, "report.json");
    const name = join(import.meta.dirname, "../unit/a.test.ts");
    await writeFile(report, JSON.stringify({ testResults: [{ name, status: "passed", assertionResults: tests }] }));
    const options = [program, `--document=${await writeDocument("unit/")}`, report];
    const { stdout, status } = spawnSync(process.execPath, options, { encoding: "utf8" });
    return { stdout, status };
  };

  test("accepts tests that passed", async () => {
    expect(await check([{ fullName: "a suite does it (1)", status: "passed" }])).toEqual({
      stdout: "docs/maintainers/conformance.md: 1 statements are claimed, and each has a test that passed\n",
      status: 0,
    });
  });

  test.each(["failed", "skipped", "pending", "todo"])("does not count a test that is %s", async (status) => {
    const { stdout, status: code } = await check([{ fullName: "a suite does it (1)", status }]);
    expect(stdout).toContain("statement 1 of kustomization.md has no test that passed in unit/\n");
    expect(code).toBe(1);
  });

  test("fails if a test that passed has a number that is not claimed", async () => {
    const more = { fullName: "it does more (2)", status: "passed" };
    const { stdout, status } = await check([{ fullName: "it does it (1)", status: "passed" }, more]);
    expect(stdout).toContain('unit/a.test.ts: "it does more (2)" names statement 2 of kustomization.md');
    expect(status).toBe(1);
  });
});

describe("a local run", () => {
  const run = async (tests: string, more: object = {}) => {
    const document = await writeDocument("a.test.ts");
    const told = { text: "", failures: 0 };
    const reporter = tellClaims({
      tests: folder,
      document,
      write: (text) => {
        told.text += text;
      },
      fail: () => {
        told.failures++;
      },
    });
    await runVitest(folder, `import { describe, test } from ${vitestModule};\n${tests}`, reporter, more);
    return told;
  };
  const claimed = 'describe("a suite", () => test("does it (1)", () => {}));\n';
  const unproven =
    "docs/maintainers/conformance.md: statement 1 of kustomization.md has no test that passed in a.test.ts\n";

  test.each([
    { what: "that passed", tests: claimed },
    { what: "that was skipped because its part is missing", tests: claimed.replace("test(", "test.skip(") },
  ])("accepts a test $what", async ({ tests }) => {
    expect(await run(tests)).toEqual({ text: "", failures: 0 });
  });

  test("fails if a claim has no test, or only a todo", async () => {
    expect(await run('test.todo("does it (1)");')).toEqual({ text: expect.stringContaining(unproven), failures: 1 });
  });

  test("with only some tests is checked only for the statements that they name", async () => {
    const some = { testNamePattern: "more" };
    expect(await run(`${claimed}test("does more", () => {});`, some)).toEqual({ text: "", failures: 0 });
    await writeFile(join(folder, "b.test.ts"), claimed);
    expect(await run('test("does more", () => {});', { exclude: ["b.test.ts"] })).toEqual({ text: "", failures: 0 });
    expect(await run('test("does more (2)", () => {});', some)).toEqual({
      text: expect.stringContaining('a.test.ts: "does more (2)" names statement 2 of kustomization.md'),
      failures: 1,
    });
  });
});
