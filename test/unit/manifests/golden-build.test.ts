import { describe, expect, test } from "vitest";
import { readRecordedStep } from "../../e2e/recorded-flux/recording.ts";
import { readScenario } from "../../e2e/recorded-flux/steps.ts";
import { buildFiles, noEngine } from "./build-files.ts";

async function pushed(scenario: string, push: string) {
  const { pushes } = await readScenario(scenario);
  return pushes[push] ?? {};
}

async function recordedText(scenario: string, step: string): Promise<string> {
  return JSON.stringify(await readRecordedStep(scenario, step));
}

describe("builds that were recorded with Flux", () => {
  test.each([
    { scenario: "seed-prune", push: "latest, push 1", step: "01-create" },
    { scenario: "seed-prune", push: "latest, push 2", step: "02-remove-pdb" },
    { scenario: "prune-false", push: "latest, push 2", step: "01-b-removed-from-source" },
    { scenario: "suspend-resume", push: "latest, push 1", step: "01-running" },
    { scenario: "suspend-resume", push: "latest, push 2", step: "03-resumed" },
    { scenario: "dry-run-invalid-value", push: "latest, push 1", step: "01-failed" },
    { scenario: "health-check-timeout", push: "latest, push 1", step: "02-timeout" },
    { scenario: "health-check-timeout", push: "latest, push 2", step: "03-recovered" },
    { scenario: "depends-on", push: "latest, push 1", step: "03-ready", path: "./app" },
    { scenario: "depends-on", push: "latest, push 1", step: "03-ready", path: "./base" },
  ])("$scenario/$step: the history digest of $push ($path) is the same", async (row) => {
    const { scenario, push, step, path = "./" } = row;
    const files = await pushed(scenario, push);
    const { digest } = await buildFiles(files, { path, targetNamespace: `golden-${scenario}` }, noEngine);
    expect(await recordedText(scenario, step)).toContain(`{"digest":"${digest}"`);
  });

  test.each([
    {
      name: "YAML that does not parse (38)",
      scenario: "build-bad-yaml",
      step: "01-failed",
      path: "./",
      says: "line 4",
    },
    {
      name: "an object without a name",
      scenario: "depends-on",
      step: "02-not-ready",
      path: "./bad",
      says: "missing metadata.name",
    },
  ])("$name is reported with Flux's text", async ({ scenario, step, path, says }) => {
    const files = await pushed(scenario, "latest, push 1");
    const recorded = await recordedText(scenario, step);
    const building = buildFiles(files, { path, targetNamespace: `golden-${scenario}` });
    const message = await building.then(String, (error: Error) => error.message);
    expect(message).toContain(says);
    // Flux names the file by the folder that it unpacked the artifact in.
    expect(recorded.replaceAll("<tmp>/", "")).toContain(`"message":${JSON.stringify(message)}`);
  });
});
