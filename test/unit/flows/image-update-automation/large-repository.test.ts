import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { gitPrograms } from "../../../doubles/git-server.ts";
import type { AutomationWorld } from "./automation-world.ts";
import { appAt as app, automationScenes } from "./opened-world.ts";

const { scene } = automationScenes("large");

const maxPackBytes = 100_000;

/** A pack of everything is larger than the limit; one without the folder `media` is not. */
async function largeScene(path?: string): Promise<AutomationWorld> {
  const one = await scene(path === undefined ? {} : { spec: { update: { path, strategy: "Setters" } } });
  const media = randomBytes(maxPackBytes).toString("base64");
  await one.repository.commit({ "apps/app.yaml": app(one, "1.0.0"), "media/film": media });
  await one.repository.git("config", "uploadpack.allowFilter", "true");
  one.state.limits.maxPackBytes = maxPackBytes;
  return one;
}

const tooLarge = (one: AutomationWorld, mend: string): string =>
  `Ready=False GitOperationFailed: failed to checkout source: unable to clone '${one.server.url}': ` +
  `the git server sends a pack of more than ${maxPackBytes} bytes: ${mend}, or keep the files with markers in a smaller repository`;
const nameFolder = "name the folder of the files with markers in spec.update.path";
const smallerPart =
  "name a smaller folder in spec.update.path, let the git server allow partial clones (uploadpack.allowFilter)";

describe.skipIf(gitPrograms === undefined)("a repository that is larger than the limit", () => {
  test("is read and written by its files below spec.update.path alone, and keeps all others", async () => {
    const one = await largeScene("./apps");
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await one.repository.git("diff", "--name-only", "main~1", "main")).toBe("apps/app.yaml");
    expect(`${await one.file("apps/app.yaml")}\n`).toBe(app(one, "1.1.0"));
    await one.repository.git("fsck", "--strict");
  });

  test.each([
    ["without spec.update.path", undefined, nameFolder],
    ["with a spec.update.path that leads to the root", "./apps/..", nameFolder],
    ["with too much below spec.update.path", "media", smallerPart],
  ])("%s fails the run with the limit and the mend, and the run retries", async (_, path, mend) => {
    const one = await largeScene(path);
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect((await one.conditions()).at(-1)).toBe(tooLarge(one, mend));
    expect(await one.commits()).toBe(2);
  });

  test("fails the run if a file below spec.update.path is a link to one outside, and says so", async () => {
    const one = await largeScene("./apps");
    const blob = await one.repository.feed("../other/app.yaml", "hash-object", "-w", "--stdin");
    await one.repository.git("read-tree", "main");
    await one.repository.git("update-index", "--add", "--cacheinfo", `120000,${blob},apps/link.yaml`);
    const other = await one.repository.feed(`${app(one, "1.0.0")}# other\n`, "hash-object", "-w", "--stdin");
    await one.repository.git("update-index", "--add", "--cacheinfo", `100644,${other},other/app.yaml`);
    const tree = await one.repository.git("write-tree");
    const commit = await one.repository.git("commit-tree", tree, "-p", "main", "-m", "link");
    await one.repository.git("update-ref", "refs/heads/main", commit);
    expect(await one.run()).toMatchObject({ outcome: "failed" });
    expect((await one.conditions()).at(-1)).toBe(
      "Ready=False UpdateFailed: failed to apply policies: the repository is so large that only the files below spec.update.path are fetched, and a link leads out of it: name a folder that has the file too, or the folder that the link leads to",
    );
  });

  test("fails the run if the server cannot leave out files", async () => {
    const one = await largeScene("./apps");
    await one.repository.git("config", "uploadpack.allowFilter", "false");
    expect(await one.run()).toMatchObject({ outcome: "failed" });
    expect((await one.conditions()).at(-1)).toBe(tooLarge(one, smallerPart));
  });
});
