import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { formatRecording, recordable } from "../../interop/flux-recorder/format-recording.ts";
import { playedScenarios } from "./played-scenarios.ts";
import { readRecording, recordingFile } from "./recording.ts";
import { readScenario } from "./steps.ts";

test("every recording has one entry per step, in the format that the recorder writes", async () => {
  const scenarios = await playedScenarios();
  expect(scenarios).toContain("drift");
  for (const name of scenarios) {
    const recording = await readRecording(name);
    expect({ name, steps: Object.keys(recording) }).toEqual({
      name,
      steps: (await readScenario(name)).steps.map(({ step }) => step),
    });
    const written = Object.entries(recording).map(([step, left]) => [step, recordable(left)] as const);
    expect(await readFile(recordingFile(name), "utf8")).toBe(formatRecording(Object.fromEntries(written)));
  }
});
