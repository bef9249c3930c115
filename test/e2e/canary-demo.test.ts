import { expect, test } from "vitest";
import { demo } from "./run-demo.ts";

// In a file of its own: it waits two minutes for the interval of the analysis, and other files run meanwhile.
test("the canary demo ends as expected: a release by weights without a failed request, and one that is rolled back", async () => {
  const { code, out, err } = await demo("canary");
  expect({ code, out, err }).toMatchObject({ code: 0, err: "" });
  expect(out).toMatch(/weight 50 %, primary 6\.0\.0: \d+ to 6\.0\.0, \d+ to 6\.0\.1\n/);
  expect(out).toContain("Rolling back podinfo.default failed checks threshold reached 2");
});
