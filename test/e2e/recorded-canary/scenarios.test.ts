import { describe, expect, test } from "vitest";
import { readRecordings } from "./recording.ts";
import { Scene } from "./scene.ts";
import { canaryStage } from "./stage.ts";

const { signal } = new AbortController();
const recordings = await readRecordings();
const stage = canaryStage(signal);

// One after the other: time that passes is for all Canaries of a Sluice.
describe("what Flagger left step by step, Sluice leaves too", () => {
  test.for(recordings)("$name", async (recording) => {
    const scene = new Scene(recording, stage(), signal);
    const steps = await scene.play((played, recorded) => expect(played).toEqual(recorded));
    expect(steps).toEqual(recording.steps.map(({ step }) => step));
  });
});
