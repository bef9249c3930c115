import { expect, test } from "vitest";
import { formatTimes } from "./format-times.ts";

const file = (name: string, seconds: number, tests: number) => ({
  name: `/project/${name}`,
  startTime: 1_000,
  endTime: 1_000 + seconds * 1_000,
  assertionResults: Array.from({ length: tests }),
});

test("the times of a report list the slowest files first, and the sum of each layer", () => {
  const files = [
    file("test/unit/a.test.ts", 1, 3),
    file("test/e2e/b.test.ts", 2.5, 1),
    file("packages/embedded-kubernetes/test/c.test.ts", 0.25, 2),
    file("test/unit/d.test.ts", 3, 1),
  ];
  expect(formatTimes(files, "/project").split("\n")).toEqual([
    "   seconds   tests  file",
    "       3.0       1  test/unit/d.test.ts",
    "       2.5       1  test/e2e/b.test.ts",
    "       1.0       3  test/unit/a.test.ts",
    "       0.3       2  packages/embedded-kubernetes/test/c.test.ts",
    "",
    "   seconds   tests  layer",
    "       4.0       4  test/unit",
    "       2.5       1  test/e2e",
    "       0.3       2  packages/embedded-kubernetes",
    "       6.8       7  all",
    "",
  ]);
});
