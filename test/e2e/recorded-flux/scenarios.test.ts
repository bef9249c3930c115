import { describe, expect, test, vi } from "vitest";
import { deadlineMs } from "../../deadline.ts";
import { gitPrograms } from "../../doubles/git-server.ts";
import { comparable } from "./comparable.ts";
import { deliberateDifferences } from "./deliberate-differences.ts";
import { expected } from "./expected.ts";
import { ownSluice } from "./own-sluice.ts";
import { playedScenarios } from "./played-scenarios.ts";
import { Scene } from "./scene.ts";
import { readScenario } from "./steps.ts";

/** Some steps wait until a health check or a deletion gives up, which by Flux's rules takes 30 s. */
const { signal } = new AbortController();
const scenarios = await playedScenarios();
const sluice = ownSluice(signal);
const withGit = await haveGit(scenarios);
const withoutGit = scenarios.filter((name) => !withGit.includes(name));

/** Those that need a git server. */
async function haveGit(names: readonly string[]): Promise<readonly string[]> {
  const read = await Promise.all(names.map(readScenario));
  return read.filter(({ changes }) => Object.keys(changes).length > 0).map(({ name }) => name);
}

async function play(name: string): Promise<void> {
  const scenario = await readScenario(name);
  const stage = sluice();
  const scene = new Scene(scenario, stage, signal);
  await scene.begin();
  for (const step of scenario.steps) {
    for (const action of step.do) await scene.act(action);
    const wanted = await expected(scenario, step.step);
    const isAsRecorded = async () => {
      // Before the look: what is over then is over in what is shown.
      const isOver = stage.isAtRest(scenario.namespace);
      const shown = comparable(await scene.show(step));
      expect({ step: step.step, shown, isOver }).toEqual({ step: step.step, shown: wanted, isOver: true });
    };
    await vi.waitFor(isAsRecorded, { timeout: deadlineMs, interval: 100 });
    await scene.turnPage();
  }
}

describe.concurrent("what Flux left step by step, Sluice leaves too", () => {
  test.for(withoutGit)("%s", play);
  test.skipIf(gitPrograms === undefined).for(withGit)("%s", play);

  test("every deliberate difference is one of a step that is recorded", async () => {
    const known = await Promise.all(
      scenarios.map(async (name) => (await readScenario(name)).steps.map(({ step }) => `${name}/${step}`)),
    );
    const named = deliberateDifferences.map(({ scenario, step }) => `${scenario}/${step}`);
    expect(named.filter((step) => !known.flat().includes(step))).toEqual([]);
  });
});
