import { expect, vi } from "vitest";
import { deadlineMs } from "../../deadline.ts";
import { comparable } from "./comparable.ts";
import { expected } from "./expected.ts";
import type { OwnStage } from "./own-sluice.ts";
import { Scene } from "./scene.ts";
import type { Action, Scenario } from "./steps.ts";

const intervalMs = 100;

/**
 * Plays a recorded scenario on Sluice. After each step, Sluice has to leave what Flux left.
 *
 * @returns the names of the steps that were played
 */
export async function play(scenario: Scenario, stage: OwnStage, signal: AbortSignal): Promise<readonly string[]> {
  const played: string[] = [];
  const scene = new Scene(scenario, stage, signal);
  await scene.begin();
  for (const step of scenario.steps) {
    for (const action of step.do) await scene.act(action);
    const wanted = await expected(scenario, step.step);
    const isAsRecorded = async () => {
      // Before the look: what is over then is over in what is shown.
      if (!stage.isAtRest(scenario.namespace)) throw new Error(`${scenario.name}/${step.step}: a run is under way`);
      const shown = comparable(await scene.show(step));
      expect({ step: step.step, shown }).toEqual({ step: step.step, shown: wanted });
    };
    await vi.waitFor(isAsRecorded, { timeout: deadlineMs, interval: intervalMs });
    await scene.turnPage();
    played.push(step.step);
  }
  return played;
}

export function stepsOf({ steps }: Scenario): readonly string[] {
  return steps.map(({ step }) => step);
}

/** Whether a timeout has to run out in one of its steps. */
export function timesOut({ steps }: Scenario): boolean {
  return steps.some((step) => step.do.some(isTimeOut));
}

export function isTimeOut(action: Action): boolean {
  return "timeOut" in action;
}
