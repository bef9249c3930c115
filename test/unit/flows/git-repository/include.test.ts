import { describe, expect, test } from "vitest";
import { Failure } from "../../../../lib/core/failure.ts";
import { gitWorld, manifest } from "./git-world.ts";

const { world, repository, status, artifact, conditions, condition, message, apply, run, refuse, told, stored } =
  gitWorld();

describe("spec.include", () => {
  const lib = "https://git.example.test/lib.git";
  const files = { "one.yaml": "1\n", "notes.txt": "n\n", "sub/two.yaml": "2\n" };
  const including = (include: object, more: object = {}) =>
    apply({ include: [{ repository: { name: "lib" }, ...include }], ...more });

  async function withLib(): Promise<void> {
    repository(lib).commit(files, { message: "Lib\n" });
    apply({ url: lib }, "lib");
    await run("lib");
    told();
  }

  test("11.1/26, 11.2/51: fails for an include that does not exist, waits for one without an artifact, and retries after 30 s or when it is stored", async () => {
    repository().commit({ "a.yaml": manifest });
    including({});
    expect(await run()).toMatchObject({ outcome: "failed", dueInMs: 30_000 });
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False NotFound",
      "IncludeUnavailable=True NotFound",
    ]);
    const missing = `could not get resource for include 'lib': GitRepository.source.toolkit.fluxcd.io "lib" not found`;
    expect(message()).toBe(missing);
    expect(told()).toEqual([`Normal NotFound: ${missing}`]);
    expect([...world().listens.values()][0]).toContain("src#here/source.toolkit.fluxcd.io/GitRepository/apps/lib");

    apply({ url: lib, ref: { branch: "later" } }, "lib");
    expect(await run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
    expect(condition("IncludeUnavailable")).toMatchObject({
      reason: "NoArtifact",
      message: "no artifact available for include 'lib'",
    });
    expect(repository().asked).toEqual([]);

    repository(lib).commit(files, {}, "later");
    await run("lib");
    await run();
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
  });

  test("11.2/52: without toPath the content goes to a folder with the include's name, filtered by the parent's ignore rules", async () => {
    repository().commit({ "a.yaml": manifest, ".sourceignore": "*.txt\n" });
    await withLib();
    including({});
    await run();
    expect((await stored()).names).toEqual([
      "- 600 .sourceignore",
      "- 600 a.yaml",
      "d 750 lib",
      "- 600 lib/one.yaml",
      "d 750 lib/sub",
      "- 600 lib/sub/two.yaml",
    ]);
    expect(status()).toMatchObject({
      observedInclude: [{ repository: { name: "lib" } }],
      includedArtifacts: [{ revision: artifact("lib").revision, digest: artifact("lib").digest }],
    });
  });

  test("copies a part of the include to a path inside the artifact", async () => {
    repository().commit({ "a.yaml": manifest });
    await withLib();
    including({ fromPath: "../sub", toPath: "../../vendored/lib" });
    await run();
    expect((await stored()).files).toEqual({ "a.yaml": manifest, "vendored/lib/two.yaml": "2\n" });
    including({ fromPath: "one.yaml", toPath: "a.yaml" });
    await run();
    expect((await stored()).files).toEqual({ "a.yaml": "1\n" });
  });

  test("copies a folder without sibling folders that start with the same name", async () => {
    repository().commit({ "a.yaml": manifest });
    const beside = {
      "deploy-old/b.yaml": "b\n",
      "deploy.txt": "t\n",
      "deploy/sub/deploy/c.yaml": "c\n",
      "x/deploy": "x\n",
    };
    repository(lib).commit({ "deploy/one.yaml": "1\n", ...beside }, { message: "Lib\n" });
    apply({ url: lib }, "lib");
    await run("lib");
    including({ fromPath: "deploy" });
    await run();
    const taken = { "lib/one.yaml": "1\n", "lib/sub/deploy/c.yaml": "c\n" };
    expect((await stored()).files).toEqual({ "a.yaml": manifest, ...taken });
  });

  test.each([
    [{ fromPath: "sub" }, ["lib/two.yaml"]],
    [{ fromPath: "sub", toPath: "" }, ["lib/two.yaml"]],
    [{ fromPath: "./sub/", toPath: "in/sub" }, ["in/sub/two.yaml"]],
    [{ fromPath: "sub-old" }, ["lib/three.yaml"]],
    [{ fromPath: "sub.yaml" }, ["lib"]],
    [{ fromPath: "", toPath: "" }, ["lib/sub-old/three.yaml", "lib/sub.yaml", "lib/sub/two.yaml"]],
  ])(
    "with %j copies the content of that folder, and no sibling that starts with the same name",
    async (include, paths) => {
      repository().commit({ "a.yaml": manifest });
      repository(lib).commit({ "sub/two.yaml": "2\n", "sub-old/three.yaml": "3\n", "sub.yaml": "4\n" });
      apply({ url: lib }, "lib");
      await run("lib");
      including(include);
      await run();
      expect(Object.keys((await stored()).files).toSorted()).toEqual(["a.yaml", ...paths]);
    },
  );

  test("waits for all includes, and notices a new revision of an include whose content is the same", async () => {
    repository().commit({ "a.yaml": manifest });
    apply({ include: ["lib", "lib-old"].map((name) => ({ repository: { name } })) });
    await run();
    const topics = ["lib", "lib-old"].map((name) => `src#here/source.toolkit.fluxcd.io/GitRepository/apps/${name}`);
    expect([...world().listens.values()][0]).toEqual([expect.anything(), ...topics]);
    await withLib();
    apply({ url: lib }, "lib-old");
    await run("lib-old");
    await run();
    expect(conditions()).toContain("Ready=True Succeeded");
    const { digest, revision } = artifact("lib");
    repository(lib).commit(files, { message: "The same\n" });
    await run("lib");
    expect(artifact("lib")).toMatchObject({ digest, revision: expect.not.stringMatching(revision) });
    await run();
    expect(status().includedArtifacts?.map((one) => one.revision)).toEqual([artifact("lib").revision, revision]);
  });

  test.each([
    {
      what: "11.2/53: a toPath that is a folder with files",
      include: { toPath: "full" },
      says: "failed to copy 'lib' include from  to full: link error: cannot rename unpack to full: rename unpack full: file exists",
    },
    {
      what: "a toPath below a file",
      include: { toPath: "a.yaml/lib" },
      says: "failed to copy 'lib' include from  to a.yaml/lib: mkdir a.yaml: not a directory",
    },
    {
      what: "a missing fromPath",
      include: { fromPath: "nowhere", toPath: "x" },
      says: "failed to copy 'lib' include from nowhere to x: cannot stat unpack/nowhere: stat unpack/nowhere: no such file or directory; the artifact has the folders sub",
    },
    {
      what: "a toPath in the folder of git",
      include: { toPath: "a/.git/hooks" },
      reason: "IllegalPath",
      says: "path calculation for include 'lib' failed: toPath 'a/.git/hooks' must not have a backslash, a null character or a part '.git'",
    },
  ])("an include that $what fails", async ({ include, says, reason = "CopyFailure" }) => {
    repository().commit({ "a.yaml": manifest, "full/b.yaml": manifest });
    await withLib();
    including(include);
    await run();
    expect(conditions()).toContain(`StorageOperationFailed=True ${reason}`);
    expect(message()).toBe(says);
  });

  test("includes are checked after the login, and each failure is reported until a run gets past its step", async () => {
    const [login, include] = ["FetchFailed=True AuthenticationFailed", "IncludeUnavailable=True NotFound"];
    refuse(new Failure("AuthenticationFailed", "no login"));
    including({});
    await run();
    expect(conditions()).toEqual(["Reconciling=True ProgressingWithRetry", "Ready=False AuthenticationFailed", login]);
    told();

    refuse();
    expect(await run()).toMatchObject({ outcome: "failed" });
    expect(conditions().slice(1)).toEqual(["Ready=False AuthenticationFailed", login, include]);
    await run();
    const missing = `could not get resource for include 'lib': GitRepository.source.toolkit.fluxcd.io "lib" not found`;
    expect(told()).toEqual([`Normal NotFound: ${missing}`]);

    refuse(new Failure("AuthenticationFailed", "another login"));
    await run();
    expect(conditions().slice(1)).toEqual(["Ready=False AuthenticationFailed", login, include]);
    expect(message()).toBe("another login");

    refuse();
    await withLib();
    await run();
    expect(conditions().slice(1)).toEqual(["Ready=False EmptyGitRepository", "FetchFailed=True EmptyGitRepository"]);
  });

  test("a missing include is reported before a key that only git's client rejects", async () => {
    const unusable = new Failure("GitOperationFailed", "no key");
    refuse(unusable);
    including({});
    await run();
    expect(message()).toContain("could not get resource for include");
    refuse();
    await withLib();
    refuse(unusable);
    await run();
    expect(message()).toBe("no key");
  });

  test("an include with an invalid object name counts as not found", async () => {
    repository().commit({ "a.yaml": manifest });
    apply({ include: [{ repository: { name: "" } }] });
    expect(await run()).toMatchObject({ outcome: "failed" });
    expect(message()).toBe(
      `could not get resource for include '': GitRepository.source.toolkit.fluxcd.io "" not found`,
    );
  });

  test("an include that cannot be copied into a new revision leaves the old artifact outdated, until the next run lists the refs", async () => {
    repository().commit({ "a.yaml": manifest });
    await withLib();
    including({});
    await run();
    repository().commit({ "lib/b.yaml": manifest });
    await run();
    expect(conditions()).toContain("ArtifactOutdated=True NewRevision");
    apply({ ref: { branch: "nowhere" } });
    await run();
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False GitOperationFailed",
      "FetchFailed=True GitOperationFailed",
      "ArtifactInStorage=True Succeeded",
    ]);
  });

  test("11.2/54: the parent's own next run notices a new artifact of an include, at the same revision", async () => {
    repository().commit({ "a.yaml": manifest });
    await withLib();
    including({});
    await run();
    const before = artifact();
    expect([...world().listens.values()].flat()).not.toContain(
      "src#here/source.toolkit.fluxcd.io/GitRepository/apps/lib",
    );
    repository(lib).commit({ "one.yaml": "changed\n" });
    await run("lib");
    expect(artifact()).toEqual(before);
    await run();
    expect(artifact().revision).toBe(before.revision);
    expect(artifact().digest).not.toBe(before.digest);
    expect(status().includedArtifacts).toMatchObject([{ revision: artifact("lib").revision }]);
    await run();
    expect(told().at(-1)).toContain("no changes since last reconciliation");
  });

  test("an include whose artifact was not recorded by its own flow is not used", async () => {
    repository().commit({ "a.yaml": manifest });
    await withLib();
    world().forgetRecords();
    including({});
    await run();
    expect(conditions()).toContain("IncludeUnavailable=True NoArtifact");
  });

  test("an include whose artifact is missing from the store is stored again by its own run", async () => {
    repository().commit({ "a.yaml": manifest });
    await withLib();
    including({});
    world().stored.delete(artifact("lib").digest);
    await run();
    expect(conditions()).toContain("StorageOperationFailed=True CopyFailure");
    expect(world().requested.map(({ key }) => key)).toContain("here/source.toolkit.fluxcd.io/GitRepository/apps/lib");
  });
});
