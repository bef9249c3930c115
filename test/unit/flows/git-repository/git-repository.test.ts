import { describe, expect, test } from "vitest";
import { gitWorld, manifest } from "./git-world.ts";

const { world, repository, status, artifact, conditions, condition, message, apply, run, told, stored } = gitWorld();
const revision = (commit: string, name = "main") => `${name}@sha1:${commit}`;

describe("a new GitRepository", () => {
  test("11.1/1, 2: first gets its finalizer, then reports Reconciling for its first generation", async () => {
    repository().commit({ "a.yaml": manifest });
    apply();
    expect(await run()).toMatchObject({ outcome: "stored", dueInMs: 3_600_000 });
    const [first, second] = world().writes;
    expect(first).toMatchObject({
      manager: "source-controller",
      body: { metadata: { finalizers: ["finalizers.fluxcd.io"] } },
    });
    const said = { status: "True", reason: "Progressing", message: "processing object: new generation -1 -> 1" };
    expect(second?.body).toMatchObject({
      status: {
        conditions: [
          { ...said, type: "Reconciling" },
          { ...said, type: "Ready", status: "Unknown" },
        ],
      },
    });
  });

  test("11.1/4, 27, 11.2/32: fetches the head of its branch and becomes Ready with Flux's message", async () => {
    const commit = repository().commit({ "a.yaml": manifest, "run.sh": { exec: "#!/bin/sh\n" } }, {}, "feature/x");
    apply({ ref: { branch: "feature/x" } });
    await run();
    const said = `stored artifact for revision '${revision(commit, "feature/x")}'`;
    const { conditions: shown, ...rest } = status();
    expect(shown).toEqual([
      expect.objectContaining({
        type: "Ready",
        status: "True",
        reason: "Succeeded",
        message: said,
        observedGeneration: 1,
      }),
      expect.objectContaining({ type: "ArtifactInStorage", status: "True", reason: "Succeeded", message: said }),
    ]);
    expect(rest).toEqual({
      observedGeneration: 1,
      artifact: {
        digest: expect.stringMatching(/^sha256:/),
        lastUpdateTime: "2026-11-21T12:00:00Z",
        path: `gitrepository/apps/app/${commit}.tar.gz`,
        revision: revision(commit, "feature/x"),
        size: expect.any(Number),
        url: `http://127.0.0.1:19790/gitrepository/apps/app/${commit}.tar.gz`,
      },
    });
    expect((await stored()).names).toEqual(["- 600 a.yaml", "- 700 run.sh"]);
    expect(world().events[0]?.metadata.annotations).toEqual({
      "source.toolkit.fluxcd.io/revision": artifact().revision,
      "source.toolkit.fluxcd.io/digest": artifact().digest,
    });
    expect(told()).toEqual(["Normal NewArtifact: stored artifact for commit 'Add a'"]);
  });

  test("the event contains the first fifty characters of the commit's subject", async () => {
    const message = "Change a with a subject that is longer than fifty characters\n\nAnd a body.\n";
    repository().commit({ "a.yaml": manifest }, { message });
    apply();
    await run();
    expect(told()).toEqual([
      "Normal NewArtifact: stored artifact for commit 'Change a with a subject that is longer than fifty ...'",
    ]);
  });
});

describe("a run that finds nothing new", () => {
  test("11.1/3, 11.2/38: only lists the refs: it fetches no content and writes only its status", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    told();
    repository().asked.length = 0;
    world().writes.length = 0;
    expect(await run()).toMatchObject({ outcome: "unchanged", isQuiet: true });
    expect(repository().asked).toEqual(["list refs/heads/main"]);
    expect(world().writes.filter(({ verb }) => verb === "patch")).toEqual([]);
    expect(told()).toEqual([
      `Normal GitOperationSucceeded: no changes since last reconciliation: observed revision '${revision(commit)}'`,
    ]);
  });

  test.each([
    { ref: { branch: "main" }, asked: "list refs/heads/main" },
    { ref: { tag: "v1.0.0" }, asked: "list refs/tags/v1.0.0" },
    { ref: { name: "refs/tags/v1.0.0" }, asked: "list refs/tags/v1.0.0" },
    { ref: { semver: "1.x" }, asked: "list refs/tags/" },
    { ref: { commit: "COMMIT" }, asked: "list HEAD refs/heads/" },
  ])("sends one request for $ref too", async ({ ref, asked }) => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().tag("v1.0.0", commit, "One");
    apply({ ref: "commit" in ref ? { commit } : { ...ref } });
    await run();
    expect(conditions()).toContain("Ready=True Succeeded");
    expect(artifact().revision).toContain(`sha1:${commit}`);
    repository().asked.length = 0;
    await run();
    expect(repository().asked).toEqual([asked]);
  });

  test("sends one request also if several tags have equal versions", async () => {
    const older = repository().commit({ "a.yaml": manifest }, { at: 2_000 });
    const newer = repository().commit({ "b.yaml": manifest }, { at: 1_000 });
    repository().tag("1.0.0+b", newer);
    repository().tag("1.0.0+a", older);
    apply({ ref: { semver: "1.x" } });
    await run();
    expect(artifact().revision).toBe(`1.0.0+a@sha1:${older}`);
    repository().asked.length = 0;
    await run();
    expect(repository().asked).toEqual(["list refs/tags/"]);
  });
});

describe("a change of the repository or of the settings", () => {
  test("11.2/39: a changed spec.ignore makes a new archive of the same revision", async () => {
    const commit = repository().commit({ "a.yaml": manifest, "b.sh": "x" });
    apply();
    await run();
    const { digest } = artifact();
    apply({ ignore: "*.sh\n" });
    await run();
    expect(artifact().revision).toBe(revision(commit));
    expect(artifact().digest).not.toBe(digest);
    expect((await stored()).names).toEqual(["- 600 a.yaml"]);
    expect(status()).toMatchObject({ observedIgnore: "*.sh\n" });
  });

  test("11.1/24: a new revision with the same content changes the revision but sends no event", async () => {
    repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    told();
    const next = repository().commit({ "a.yaml": manifest, "logo.png": "x" });
    await run();
    expect(artifact().revision).toBe(revision(next));
    expect(told()).toEqual([]);
  });

  test("11.1/5, 8, 25: a failure keeps the artifact and its generation, and the recovery is announced", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    told();
    apply({ ref: { branch: "gone" } });
    world().annotate("app", { "reconcile.fluxcd.io/requestedAt": "now" });
    expect(await run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False GitOperationFailed",
      "FetchFailed=True GitOperationFailed",
      "ArtifactInStorage=True Succeeded",
    ]);
    expect(condition("Reconciling")?.message).toBe("processing object: new generation 1 -> 2");
    expect(status()).toMatchObject({ observedGeneration: 1, lastHandledReconcileAt: "now" });
    expect(artifact().revision).toBe(revision(commit));
    const why = `failed to checkout and determine revision: unable to clone 'https://git.example.test/app.git': couldn't find remote ref "refs/heads/gone"`;
    expect(message()).toBe(why);
    expect(told()).toEqual([`Warning GitOperationFailed: ${why}`]);
    apply({ ref: { branch: "main" } });
    await run();
    expect(told()).toEqual([
      `Normal Succeeded: stored artifact for commit '${revision(commit)}'`,
      `Normal GitOperationSucceeded: no changes since last reconciliation: observed revision '${revision(commit)}'`,
    ]);
  });

  test("a force-pushed branch and a moved tag are followed", async () => {
    repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    repository().refs.delete("refs/heads/main");
    const other = repository().commit({ "b.yaml": manifest }, { message: "Anew\n" });
    await run();
    expect(artifact().revision).toBe(revision(other));
    repository().tag("v1", other);
    apply({ ref: { tag: "v1" } });
    await run();
    expect(artifact().revision).toBe(revision(other, "v1"));
    const moved = repository().commit({ "c.yaml": manifest });
    repository().tag("v1", moved);
    await run();
    expect(artifact().revision).toBe(revision(moved, "v1"));
    repository().refs.delete("refs/tags/v1");
    await run();
    expect(message()).toContain(`couldn't find remote ref "refs/tags/v1"`);
    expect(artifact().revision).toBe(revision(moved, "v1"));
  });
});

describe("11.2/48: an empty repository", () => {
  test("gives EmptyGitRepository if there is no artifact; with an artifact it gives the error of a failed listing", async () => {
    apply();
    await run();
    expect(conditions()).toContain("FetchFailed=True EmptyGitRepository");
    expect(message()).toBe("git repository is empty");
    repository().commit({ "a.yaml": manifest });
    await run();
    expect(conditions()).toContain("Ready=True Succeeded");
    repository().refs.clear();
    await run();
    expect(conditions()).toContain("Ready=False GitOperationFailed");
    expect(message()).toBe(
      "failed to checkout and determine revision: unable to list remote for 'https://git.example.test/app.git': remote repository is empty",
    );
    expect(conditions()).toContain("ArtifactInStorage=True Succeeded");
  });
});
