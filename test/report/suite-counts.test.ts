import { describe, expect, test } from "vitest";
import { suiteCounts } from "./suite-counts.ts";

const result = (status: string, fullName = "a test") => ({ status, fullName });

describe("the counts of a run", () => {
  test("are those of each folder and of all", () => {
    const { suites, total, skipped } = suiteCounts(
      {
        testResults: [
          { name: "/p/test/unit/b.test.ts", status: "passed", assertionResults: [result("passed"), result("passed")] },
          { name: "/p/test/contract/a.test.ts", status: "failed", assertionResults: [result("failed")] },
          { name: "/p/test/unit/a/c.test.ts", status: "passed", assertionResults: [result("passed")] },
        ],
      },
      "/p/test",
    );
    expect([...suites]).toEqual([
      ["contract", { passed: 0, failed: 1 }],
      ["unit", { passed: 3, failed: 0 }],
    ]);
    expect(total).toEqual({ passed: 3, failed: 1 });
    expect(skipped).toEqual([]);
  });

  test("are those of each package too, by its name", () => {
    const testResults = [
      "/p/packages/tool/test/unit/a.test.ts",
      "/p/packages/tool/test/b.test.ts",
      "/p/test/e2e/a.test.ts",
    ].map((name) => ({ name, status: "passed", assertionResults: [result("passed"), result("skipped")] }));
    const { suites, skipped } = suiteCounts({ testResults }, "/p/test");
    expect([...suites]).toEqual([
      ["e2e", { passed: 1, failed: 0 }],
      ["tool", { passed: 2, failed: 0 }],
    ]);
    expect(skipped).toContain("../packages/tool/test/b.test.ts: a test");
  });

  test("count a file that could not be loaded as one failure", () => {
    const testResults = [{ name: "/p/test/unit/a.test.ts", status: "failed", assertionResults: [] }];
    expect(suiteCounts({ testResults }, "/p/test").total).toEqual({ passed: 0, failed: 1 });
  });

  test("name failed tests, with the reason and without the stack", () => {
    const failureMessages = ["\u001B[31mError: no such part\u001B[39m\n    at run (/p/a.ts:1:2)\nexpected 1"];
    const testResults = [
      { name: "/p/test/e2e/a.test.ts", status: "failed", assertionResults: [{ ...result("failed"), failureMessages }] },
      { name: "/p/test/unit/b.test.ts", status: "failed", message: "cannot be loaded", assertionResults: [] },
    ];
    expect(suiteCounts({ testResults }, "/p/test").failures).toEqual([
      "e2e/a.test.ts: a test\n    Error: no such part\n    expected 1",
      "unit/b.test.ts\n    cannot be loaded",
    ]);
  });

  test("are refused if a file was run twice", () => {
    const once = { name: "/p/test/unit/a.test.ts", status: "passed", assertionResults: [result("passed")] };
    expect(() => suiteCounts({ testResults: [once, once] }, "/p/test")).toThrow("a.test.ts was run twice");
  });

  test("name skipped tests of any kind, and do not count them", () => {
    const assertionResults = [result("skipped", "needs a part"), result("pending", "later"), result("passed")];
    const testResults = [{ name: "/p/test/contract/a.test.ts", status: "passed", assertionResults }];
    const { total, skipped } = suiteCounts({ testResults }, "/p/test");
    expect(total).toEqual({ passed: 1, failed: 0 });
    expect(skipped).toEqual(["contract/a.test.ts: needs a part", "contract/a.test.ts: later"]);
  });
});
