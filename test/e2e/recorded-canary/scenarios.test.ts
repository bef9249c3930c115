import { describe, expect, test } from "vitest";
import { type Difference, differences } from "./differences.ts";
import { readRecordings } from "./recording.ts";
import { Scene } from "./scene.ts";
import { canaryStage } from "./stage.ts";

const { signal } = new AbortController();
const recordings = await readRecordings();
const stage = canaryStage(signal);
const asIs: Difference = (left) => left;

// One after the other: time that passes is for all Canaries of a Sluice.
describe("Sluice reaches the same state as Flagger, step by step", () => {
  test.for(recordings)("$name", async (recording) => {
    const scene = new Scene(recording, stage(), signal);
    const played = await scene.play(({ step, left }, recorded) => {
      const difference = differences.get(`${recording.name}/${step}`) ?? asIs;
      expect({ step, left }).toEqual({ step, left: difference(recorded.left) });
    });
    expect(played).toEqual(recording.steps.map(({ step }) => step));
  });
});
