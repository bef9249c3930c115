import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitPrograms } from "../../doubles/git-server.ts";
import { ownSluice } from "../recorded-flux/own-sluice.ts";
import { type Left, readAutomationRecordings } from "./automation-recording.ts";
import { AutomationScene, type Difference } from "./automation-scene.ts";
import { type ImageRegistry, imageRegistry } from "./image-registry.ts";
import { RecordedRepository } from "./recorded-repository.ts";

const { signal } = new AbortController();
/** From here on the recording has two commits of one second that are one commit, which a slower machine makes two. */
const lastStep = new Map([["image-automation-push-branch", "same-branch"]]);
const recordings = (await readAutomationRecordings()).map((recording) => {
  const end = recording.steps.findIndex(({ step }) => step === lastStep.get(recording.name));
  return end === -1 ? recording : { ...recording, steps: recording.steps.slice(0, end + 1) };
});
const sluice = ownSluice(signal);
let registry: ImageRegistry | undefined;
beforeAll(async () => {
  registry = await imageRegistry(signal);
});
afterAll(() => registry?.[Symbol.asyncDispose]());

/** A changed path is looked at at once; Flux waits until a policy or the branch changes. */
const skippedFile: Difference = ({ objects, events, git }) => {
  const commit = "<commit-2>";
  const before = git.refs["refs/heads/main"] ?? "";
  const pushed = JSON.stringify({ objects, refs: git.refs }).replaceAll(before, commit);
  const told = events.map((event) => ({
    ...event,
    message: "pushed commit '<commit-2, 7>' to branch 'main'\none.yaml\n",
  }));
  const made = recordings
    .find(({ name }) => name === "image-automation-path")
    ?.steps.find(({ step }) => step === "file")
    ?.flux.git.commits.map((one) => ({ ...one, commit, parents: [before] }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts in it are replaced by texts
  const after = JSON.parse(pushed) as Pick<Left, "objects"> & Left["git"];
  return { objects: after.objects, events: told, git: { refs: after.refs, commits: made ?? [] } };
};

/** So the file has its image by the next step: nothing is committed, and our own commit is what the run has seen. */
const changedFile: Difference = (flux) => {
  const { events, objects } = asSeen(flux);
  const told = events.map((event) => ({ ...event, message: "repository up-to-date" }));
  return { objects, events: told, git: { refs: { "refs/heads/main": "<own-commit-1>" }, commits: [] } };
};

/** After a failed run the status has the revision of the run before. */
const asSeen: Difference = ({ objects, ...left }) => {
  const text = JSON.stringify(objects).replaceAll("main@sha1:<commit-2>", "main@sha1:<own-commit-1>");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts in it are replaced by texts
  return { ...left, objects: JSON.parse(text) as Left["objects"] };
};

/** What Sluice does on purpose otherwise (docs/differences-from-flux.md). */
const differences = new Map<string, Difference>([
  ["image-automation-path/file-skipped", skippedFile],
  ["image-automation-path/file", changedFile],
  ["image-automation-path/missing", asSeen],
]);

describe
  .skipIf(gitPrograms === undefined)
  .concurrent("Sluice reaches the same state as image-automation-controller, step by step", () => {
    test.for(recordings)("$name", async (recording) => {
      if (registry === undefined) throw new Error("asked for before the tests began");
      await using repository = await RecordedRepository.open();
      const stage = { own: sluice(), registry, repository };
      const played = await new AutomationScene(recording, stage, signal).play(differences);
      expect(played).toEqual(recording.steps.map(({ step }) => step));
    });
  });
