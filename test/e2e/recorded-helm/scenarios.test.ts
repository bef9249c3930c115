import { describe, expect, test } from "vitest";
import { ownSluice } from "../recorded-flux/own-sluice.ts";
import { type Recording, readRecordings } from "./recording.ts";
import { Scene, timeThatPasses } from "./stage.ts";

const { signal } = new AbortController();
const recordings = await readRecordings();
const time = timeThatPasses();
const sluice = ownSluice(signal);
const sluiceInTime = ownSluice(signal, { clock: time.clock });

/** Statements of the reference that a scenario proves: it fails without what they say. */
const proven: Readonly<Record<string, string>> = { "values-from": "23/64" };

function titled(recording: Recording) {
  const statements = proven[recording.name];
  return { recording, title: statements === undefined ? recording.name : `${recording.name} (${statements})` };
}

function needsTime({ steps }: Recording): boolean {
  return steps.some((step) => step.do.some((action) => action !== "settle" && "pass" in action));
}

function stepsOf({ steps }: Recording): readonly string[] {
  return steps.map(({ step }) => step);
}

describe.concurrent("Sluice reaches the same state as helm-controller, step by step", () => {
  test.for(recordings.filter((one) => !needsTime(one)).map(titled))("$title", async ({ recording }) => {
    expect(await new Scene(recording, sluice(), undefined, signal).play()).toEqual(stepsOf(recording));
  });
});

// One after the other: time that passes is for all runs of a Sluice, and ends the leases of those under way.
describe("Sluice reaches the same state as helm-controller after some time", () => {
  test.for(recordings.filter(needsTime).map(titled))("$title", async ({ recording }) => {
    expect(await new Scene(recording, sluiceInTime(), time, signal).play()).toEqual(stepsOf(recording));
  });
});
