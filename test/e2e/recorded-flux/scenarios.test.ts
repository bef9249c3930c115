import { describe, expect, test } from "vitest";
import { gitPrograms } from "../../doubles/git-server.ts";
import { deliberateDifferences } from "./deliberate-differences.ts";
import { ownSluice } from "./own-sluice.ts";
import { play, stepsOf, timesOut } from "./play.ts";
import { playedScenarios } from "./played-scenarios.ts";
import { readScenario } from "./steps.ts";

const { signal } = new AbortController();
const all = await Promise.all((await playedScenarios()).map(readScenario));
// `timeouts.test.ts` plays the others.
const scenarios = all.filter((scenario) => !timesOut(scenario)).map((scenario) => ({ scenario, name: scenario.name }));
const [withoutGit, withGit] = [false, true].map((needsGit) =>
  scenarios.filter(({ scenario: { changes } }) => Object.keys(changes).length > 0 === needsGit),
);
const sluice = ownSluice(signal);

describe.concurrent("Sluice reaches the same state as Flux, step by step", () => {
  test.for(withoutGit ?? [])("$name", async ({ scenario }) => {
    expect(await play(scenario, sluice(), signal)).toEqual(stepsOf(scenario));
  });
  test.skipIf(gitPrograms === undefined).for(withGit ?? [])("$name", async ({ scenario }) => {
    expect(await play(scenario, sluice(), signal)).toEqual(stepsOf(scenario));
  });

  test("every deliberate difference belongs to a recorded step", () => {
    const known = all.flatMap((scenario) => stepsOf(scenario).map((step) => `${scenario.name}/${step}`));
    const named = deliberateDifferences.map(({ scenario, step }) => `${scenario}/${step}`);
    expect(named.filter((step) => !known.includes(step))).toEqual([]);
  });
});
