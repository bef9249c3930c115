import { expect, test } from "vitest";
import { differing, goldenSuite } from "./golden-suite.ts";
import { families, readCases } from "./recorded-case.ts";

// Sluice brings the kubectl that the others run.
for (const family of families.filter((one) => one !== "kubectl")) goldenSuite(family);

test("every case that docs/fidelity.md lists exists", () => {
  const names = new Set(families.flatMap((family) => readCases(family).map(({ name }) => name)));
  expect([...differing].filter((name) => !names.has(name))).toEqual([]);
});
