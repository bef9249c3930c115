import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRecordings } from "../recorded-helm/recording.ts";
import { givenScenarios } from "./given-recordings.ts";
import { playedScenarios } from "./played-scenarios.ts";

const { played } = await givenScenarios();

test("every listed scenario is played", async () => {
  expect(played.length).toBe(39);
  const scenarios = await playedScenarios();
  expect(played.filter((name) => !scenarios.includes(name))).toEqual([]);
});

test("docs/maintainers/conformance.md gives the number of played scenarios", async () => {
  const document = await readFile(join(import.meta.dirname, "../../../docs/maintainers/conformance.md"), "utf8");
  const [, said = ""] = document.split("## Recorded scenarios");
  const text = said.replaceAll(/\s+/g, " ");
  expect(text).toContain(` ${(await playedScenarios()).length} scenarios were recorded`);
  expect(text).toContain(` ${(await readRecordings()).length} more scenarios of HelmReleases`);
});
