import { describe, expect, test } from "vitest";
import type { Equivalent } from "./equivalents.ts";
import { equivalents } from "./equivalents.ts";
import { measure, mutantsOf, Report } from "./score.ts";

const source = "export function isOld(age: number) {\n  return age > 5;\n}\n";
const whole = { start: { line: 2, column: 10 }, end: { line: 2, column: 17 } };

/** A report on one file, with a mutant of `age > 5` for each status. */
function mutants(file: string, ...statuses: readonly string[]) {
  const found = statuses.map((status, index) => ({
    mutatorName: "EqualityOperator",
    replacement: `age > ${index + 6}`,
    status,
    location: whole,
  }));
  return mutantsOf(Report.parse({ files: { [file]: { language: "typescript", source, mutants: found } } }));
}

const never = () => false;
const listed: Equivalent = {
  file: "lib/a/old.ts",
  line: "return age > 5;",
  from: "age > 5",
  to: "age > 6",
  why: "none",
};

describe("the mutation score", () => {
  test("shows the place of a surviving mutant, the original text and its replacement", () => {
    expect(mutants("lib/a/old.ts", "Survived")).toEqual([
      {
        file: "lib/a/old.ts",
        line: 2,
        column: 10,
        start: source.indexOf("age > 5"),
        end: source.indexOf(";"),
        lineText: "return age > 5;",
        from: "age > 5",
        to: "age > 6",
        outcome: "survived",
      },
    ]);
  });

  test("is the share of mutants that tests noticed, by folder; a timeout counts as noticed", () => {
    const all = [
      ...mutants("lib/a/old.ts", "Killed", "Timeout", "RuntimeError", "Survived"),
      ...mutants("lib/b/new.ts", "Killed", "NoCoverage"),
    ];
    const { scores, survivors } = measure(all, [], never);
    expect(scores).toEqual([
      { folder: "lib/a", mutants: 4, noticed: 3, survived: 1, excused: 0, share: 0.75 },
      { folder: "lib/b", mutants: 2, noticed: 1, survived: 1, excused: 0, share: 0.5 },
    ]);
    expect(survivors.map(({ file, outcome }) => `${file} ${outcome}`)).toEqual([
      "lib/a/old.ts survived",
      "lib/b/new.ts untested",
    ]);
  });

  test("leaves out log lines, and excuses mutants that are equivalent or do not compile", () => {
    const all = mutants("lib/a/old.ts", "Survived", "Survived", "Survived", "Ignored", "Killed");
    const { scores, survivors, problems } = measure(all, [listed], ({ to }) => to === "age > 7");
    expect(scores).toEqual([{ folder: "lib/a", mutants: 4, noticed: 1, survived: 1, excused: 2, share: 0.5 }]);
    expect(survivors.map(({ to }) => to)).toEqual(["age > 8"]);
    expect(problems).toEqual([]);
  });

  test("refuses a listed equivalent that is noticed or no longer exists; files that were not measured do not count", () => {
    const elsewhere = { ...listed, file: "lib/b/old.ts" };
    const { scores, problems } = measure(mutants("lib/a/old.ts", "Killed"), [listed, elsewhere], never);
    expect(scores[0]).toMatchObject({ noticed: 1, excused: 0 });
    expect(problems).toEqual([
      'lib/a/old.ts: "age > 5" to "age > 6" in "return age > 5;" is listed as equivalent and a test notices it',
    ]);
    const moved = measure(mutants("lib/a/old.ts", "Survived"), [{ ...listed, to: "age > 9" }], never);
    expect(moved.problems).toEqual([expect.stringContaining("is no mutant of the file any more")]);
    expect(moved.survivors).toHaveLength(1);
  });

  test("is refused for a run that was aborted", () => {
    expect(() => mutants("lib/a/old.ts", "Pending")).toThrow(
      "lib/a/old.ts:2: a mutant is Pending: the run was cut off",
    );
  });

  test("needs a reason for every listed equivalent", () => {
    expect(equivalents.filter(({ why }) => !/^[A-Z].{20,}\.$/.test(why))).toEqual([]);
  });
});
