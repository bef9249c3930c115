import { describe, expect, test } from "vitest";
import { ownSluice } from "./own-sluice.ts";
import { passingTime } from "./passing-time.ts";
import { isTimeOut, play, stepsOf, timesOut } from "./play.ts";
import { playedScenarios } from "./played-scenarios.ts";
import { readRecording } from "./recording.ts";
import { readScenario } from "./steps.ts";

const { signal } = new AbortController();
const all = await Promise.all((await playedScenarios()).map(readScenario));
const scenarios = all.filter(timesOut).map((scenario) => ({ scenario, name: scenario.name }));
/** What Flux says when it has waited until a timeout. */
const gaveUp = /timeout waiting for|failed to wait for resources termination/;
const time = passingTime();
const sluice = ownSluice(signal, time);

describe.concurrent("Sluice reaches the same state as Flux, step by step, in scenarios with a timeout", () => {
  test.for(scenarios)("$name", async ({ scenario }) => {
    time.enter();
    try {
      expect(await play(scenario, sluice(), signal)).toEqual(stepsOf(scenario));
    } finally {
      time.leave();
    }
  });

  test("every step in which Flux waited until a timeout runs into it", async () => {
    const found = await Promise.all(
      all.map(async ({ name, steps }) => {
        const recording = Object.entries(await readRecording(name));
        const waited = recording.filter(([, { events }]) => gaveUp.test(JSON.stringify(events))).map(([step]) => step);
        return {
          name,
          waited,
          said: steps.filter(({ do: actions }) => actions.some(isTimeOut)).map(({ step }) => step),
        };
      }),
    );
    expect(found.map(({ name, said }) => ({ name, steps: said }))).toEqual(
      found.map(({ name, waited }) => ({ name, steps: waited })),
    );
  });
});
