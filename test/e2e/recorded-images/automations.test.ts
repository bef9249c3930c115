import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitPrograms } from "../../doubles/git-server.ts";
import { ownSluice } from "../recorded-flux/own-sluice.ts";
import { readAutomationRecordings } from "./automation-recording.ts";
import { AutomationScene, type Difference } from "./automation-scene.ts";
import { type ImageRegistry, imageRegistry } from "./image-registry.ts";
import { RecordedRepository } from "./recorded-repository.ts";

const { signal } = new AbortController();
const recordings = await readAutomationRecordings();
const sluice = ownSluice(signal);
let registry: ImageRegistry | undefined;
beforeAll(async () => {
  registry = await imageRegistry(signal);
});
afterAll(() => registry?.[Symbol.asyncDispose]());

const differences = new Map<string, Difference>();

describe
  .skipIf(gitPrograms === undefined)
  .concurrent("what image-automation-controller left step by step, Sluice leaves too", () => {
    test.for(recordings)("$name", async (recording) => {
      if (registry === undefined) throw new Error("asked for before the tests began");
      await using repository = await RecordedRepository.open();
      const stage = { own: sluice(), registry, repository };
      const played = await new AutomationScene(recording, stage, signal).play(differences);
      expect(played).toEqual(recording.steps.map(({ step }) => step));
    });
  });
