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

  test("hold a file that could not be loaded as one failure", () => {
    const testResults = [{ name: "/p/test/unit/a.test.ts", status: "failed", assertionResults: [] }];
    expect(suiteCounts({ testResults }, "/p/test").total).toEqual({ passed: 0, failed: 1 });
  });

  test("are none where a file was run twice", () => {
    const once = { name: "/p/test/unit/a.test.ts", status: "passed", assertionResults: [result("passed")] };
    expect(() => suiteCounts({ testResults: [once, once] }, "/p/test")).toThrow("a.test.ts was run twice");
  });

  test("name what was skipped, for whatever reason, and count it nowhere", () => {
    const assertionResults = [result("skipped", "needs a part"), result("pending", "later"), result("passed")];
    const testResults = [{ name: "/p/test/contract/a.test.ts", status: "passed", assertionResults }];
    const { total, skipped } = suiteCounts({ testResults }, "/p/test");
    expect(total).toEqual({ passed: 1, failed: 0 });
    expect(skipped).toEqual(["contract/a.test.ts: needs a part", "contract/a.test.ts: later"]);
  });
});
