import { describe, expect, test } from "vitest";
import { gitPrograms } from "../../../doubles/git-server.ts";
import { type AutomationWorld, Killed } from "./automation-world.ts";
import { appAt, automationScenes, image } from "./opened-world.ts";

const { scene } = automationScenes("killed");

const branches = [
  { name: "the branch that is checked out", branch: "main", git: {} },
  {
    name: "another branch, and by a refspec",
    branch: "updates",
    git: { push: { branch: "updates", refspec: "refs/heads/updates:refs/heads/mirror" } },
  },
] as const;

/** What a run that is not killed writes, in its order. */
async function writesOf(one: AutomationWorld): Promise<readonly string[]> {
  one.writes.length = 0;
  await one.run();
  return [...one.writes];
}

async function changes(one: AutomationWorld, branch: string): Promise<number> {
  return Number(await one.repository.git("rev-list", "--count", "--author=Flux", branch).catch(() => "0"));
}

describe.skipIf(gitPrograms === undefined)("an ImageUpdateAutomation whose run is killed", () => {
  test("records the commit that it is about to push before it pushes", async () => {
    const one = await scene();
    const writes = await writesOf(one);
    expect(writes).toEqual([
      "cluster.patch", // the finalizer
      "cluster.patch", // a new generation
      "subscriptions.subscribe",
      "cluster.patch", // the commit that is pushed
      "git.push",
      "cluster.patch", // the outcome
      "cluster.create", // its event
    ]);
  });

  test.each(branches)(
    "before any write ends with one commit on $name and a status that names it",
    async ({ branch, git }) => {
      const { length } = await writesOf(await scene({ git }));
      for (let writes = 0; writes < length; writes++) {
        const one = await scene({ git });
        one.state.writesLeft = writes;
        await expect(one.run()).rejects.toThrow(Killed);
        one.state.writesLeft = Number.POSITIVE_INFINITY;
        await one.run();
        await one.run();
        const head = await one.head(branch);
        expect(await changes(one, branch)).toBe(1);
        expect(await one.status()).toMatchObject({ lastPushCommit: head, observedPolicies: { app: image("1.1.0") } });
        expect(await one.conditions()).toEqual(["Ready=True Succeeded: repository up-to-date"]);
        expect(await one.head(branch === "main" ? "main" : "mirror")).toBe(head);
      }
    },
  );

  test.each(branches)(
    "after the push to $name but before the server's answer, announces the commit in the next run",
    async ({ branch, git }) => {
      const one = await scene({ git });
      const writes = await writesOf(await scene({ git }));
      const push = writes.indexOf("git.push");
      // The push is made, and the next write is not.
      one.state.writesLeft = push + 1;
      await expect(one.run()).rejects.toThrow(Killed);
      expect(await changes(one, branch)).toBe(1);
      expect((await one.status()).lastPushCommit).toBeUndefined();
      one.state.writesLeft = Number.POSITIVE_INFINITY;
      expect(await one.run()).toMatchObject({ outcome: "pushed" });
      const head = await one.head(branch);
      expect((await one.status()).lastPushCommit).toBe(head);
      expect(one.events().at(-1)).toContain(`pushed commit '${head.slice(0, 7)}' to branch '${branch}'`);
      expect(one.events().at(-1)).toContain("\nUpdate from image update automation");
      expect(await changes(one, branch)).toBe(1);
    },
  );

  test("after the push, does not claim the commit if another commit has followed", async () => {
    const one = await scene();
    const writes = await writesOf(await scene());
    one.state.writesLeft = writes.indexOf("git.push") + 1;
    await expect(one.run()).rejects.toThrow(Killed);
    one.state.writesLeft = Number.POSITIVE_INFINITY;
    await one.repository.commit({ "apps/app.yaml": appAt(one, "1.1.0") });
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    const { lastPushCommit, observedSourceRevision } = await one.status();
    expect(lastPushCommit).toBeUndefined();
    expect(observedSourceRevision).toBe(`main@sha1:${await one.head()}`);
    expect(await one.conditions()).toEqual(["Ready=True Succeeded: repository up-to-date"]);
  });

  test("during the push, without an answer, counts the commit as pushed if the server has it", async () => {
    const one = await scene();
    one.state.losesAnswer = true;
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await changes(one, "main")).toBe(1);
    expect((await one.status()).lastPushCommit).toBe(await one.head());
    expect(await one.conditions()).toEqual(["Ready=True Succeeded: repository up-to-date"]);
    one.state.losesAnswer = false;
    expect(await one.run()).toMatchObject({ outcome: "skipped" });
    expect(await changes(one, "main")).toBe(1);
  });
});
