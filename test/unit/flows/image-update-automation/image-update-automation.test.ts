import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { gitPrograms } from "../../../doubles/git-server.ts";
import { marked } from "./automation-world.ts";
import { appAt as app, automationScenes, image } from "./opened-world.ts";

const { scene, ready } = automationScenes("auto");

const upToDate = "Ready=True Succeeded: repository up-to-date";
const inProgress = "Reconciling=True ProgressingWithRetry: processing object: new generation -1 -> 1";
const author = "Flux <flux@example.test>";

describe.skipIf(gitPrograms === undefined)("an ImageUpdateAutomation", () => {
  test("image-automation/51, 52: an update is one commit by the author of the spec; event and status name the commit", async () => {
    const one = await scene();
    const before = await one.head();
    expect(await one.run()).toMatchObject({ outcome: "pushed", dueInMs: 3_600_000 });
    const head = await one.head();
    expect(await one.repository.git("log", "--format=%P|%an <%ae>|%cn <%ce>|%B", "-1", "main")).toBe(
      `${before}|${author}|${author}|Update from image update automation`,
    );
    expect(await one.commits()).toBe(2);
    expect(await one.conditions()).toEqual([upToDate]);
    expect(await one.status()).toMatchObject({
      lastAutomationRunTime: "2026-11-29T12:00:00Z",
      lastPushCommit: head,
      lastPushTime: "2026-11-29T12:00:00Z",
      observedGeneration: 1,
      observedPolicies: { app: image("1.1.0") },
      observedSourceRevision: `main@sha1:${head}`,
    });
    expect(one.events()).toEqual([
      `Normal Succeeded: pushed commit '${head.slice(0, 7)}' to branch 'main'\nUpdate from image update automation`,
    ]);
  });

  test("image-automation/48: files without markers are not in the commit, and all other bytes of a file are kept", async () => {
    const one = await ready();
    expect(await one.repository.git("diff", "--name-only", "main~1", "main")).toBe("apps/app.yaml");
    expect(`${await one.file("apps/app.yaml")}\n`).toBe(app(one, "1.1.0"));
  });

  test("image-automation/50: if there is nothing to update, it makes no commit and records policies and revision", async () => {
    const one = await scene();
    const head = await one.repository.commit({ "apps/app.yaml": app(one, "1.1.0") });
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(await one.head()).toBe(head);
    expect(await one.conditions()).toEqual([upToDate]);
    expect(await one.status()).toMatchObject({
      observedPolicies: { app: image("1.1.0") },
      observedSourceRevision: `main@sha1:${head}`,
    });
    expect((await one.status()).lastPushCommit).toBeUndefined();
    expect(one.events()).toEqual(["Normal Succeeded: repository up-to-date"]);
  });

  test("image-automation/67: a run without new inputs does not clone, and records its time", async () => {
    const one = await ready();
    one.server.seen.length = 0;
    expect(await one.run()).toMatchObject({ outcome: "skipped" });
    expect(one.server.seen.map(({ method }) => method)).toEqual(["POST"]);
    expect((await one.status()).lastAutomationRunTime).toBe("2026-11-29T12:00:01Z");
    expect(one.events().at(-1)).toBe("Normal Succeeded: no change since last reconciliation");
  });

  test("image-automation/57, 58: is woken by newly selected images and by the spec of the GitRepository, not by its revisions", async () => {
    const one = await ready();
    expect(one.subscriptionsOf().toSorted()).toEqual([
      `spec#here/source.toolkit.fluxcd.io/GitRepository/${one.namespace}/app`,
    ]);
  });

  test("the next run sees a commit of another client, and has nothing to update", async () => {
    const one = await ready();
    const head = await one.repository.commit({ "apps/app.yaml": app(one, "1.1.0"), "README.md": "new" });
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect((await one.status()).observedSourceRevision).toBe(`main@sha1:${head}`);
    expect(one.events().at(-1)).toBe("Normal Succeeded: repository up-to-date");
  });

  test("updates again a value that a user has reverted", async () => {
    const one = await ready();
    await one.repository.commit({ "apps/app.yaml": app(one, "1.0.0") });
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(`${await one.file("apps/app.yaml")}\n`).toBe(app(one, "1.1.0"));
  });

  test("reads a changed path in the same run, even if policies and branch are unchanged", async () => {
    const one = await ready({ spec: { update: { path: "elsewhere", strategy: "Setters" } } });
    expect(await one.conditions()).toEqual([
      inProgress,
      "Ready=False UpdateFailed: failed to apply policies: walking path for files: lstat elsewhere: no such file or directory",
    ]);
    await one.automation({ update: { path: "./apps", strategy: "Setters" } });
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await one.conditions()).toEqual([upToDate]);
    await one.automation({ update: { path: ".", strategy: "Setters" } });
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(one.events().at(-1)).toBe("Normal Succeeded: no change since last reconciliation");
  });

  test("image-automation/59: applies a policy that fails or is suspended, but not one without an image", async () => {
    const one = await scene();
    await one.policy("none", undefined);
    const failing = {
      type: "Ready",
      status: "False",
      reason: "Failure",
      message: "x",
      lastTransitionTime: "2026-11-29T12:00:00Z",
    };
    await one.patchStatus("ImagePolicy", "app", { conditions: [failing] });
    await one.run();
    expect((await one.status()).observedPolicies).toEqual({ app: image("1.1.0") });
  });

  test("image-automation/47: leaves markers of policies outside its selector or namespace unchanged", async () => {
    const one = await scene({ spec: { policySelector: { matchLabels: { team: "a" } } } });
    await one.policy("mine", image("2.0.0"), { team: "a" });
    const files = {
      "app.yaml": app(one, "1.0.0"),
      "mine.yaml": marked("ghcr.io/acme/app:1.0.0", `${one.namespace}:mine`),
      "other.yaml": marked("ghcr.io/acme/app:1.0.0", "elsewhere:mine"),
    };
    await one.repository.commit(files);
    await one.run();
    expect(await one.repository.git("diff", "--name-only", "main~1", "main")).toBe("mine.yaml");
    expect((await one.status()).observedPolicies).toEqual({ mine: image("2.0.0") });
  });

  test("image-automation/68: neither runs nor records the request while suspended", async () => {
    const one = await ready();
    await one.automation({ suspend: true });
    await one.annotate({ "reconcile.fluxcd.io/requestedAt": "one" });
    await one.policy("app", image("1.2.0"));
    const { observedGeneration: _generation, ...before } = await one.status();
    expect(await one.run()).toMatchObject({ outcome: "suspended", dueInMs: undefined });
    expect(await one.status()).toEqual({ ...before, observedGeneration: 2 });
    expect(await one.commits()).toBe(2);
    await one.automation();
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect((await one.status()).lastHandledReconcileAt).toBe("one");
  });

  test("image-automation/70: its deletion removes the finalizer without any request to git", async () => {
    const one = await ready();
    one.server.seen.length = 0;
    await one.remove("ImageUpdateAutomation", "app");
    expect(await one.run()).toEqual({ outcome: "deleted", dueInMs: undefined });
    expect(await one.get("ImageUpdateAutomation", "app")).toBeUndefined();
    expect(one.server.seen).toEqual([]);
    expect(one.subscriptionsOf()).toEqual([]);
    expect(await one.run()).toEqual({ outcome: "absent", dueInMs: undefined });
  });
});

describe.skipIf(gitPrograms === undefined)("the branches of an ImageUpdateAutomation", () => {
  test("image-automation/53: a separate push branch is created from the checked-out branch, which is never written", async () => {
    const one = await scene({ git: { push: { branch: "updates" } } });
    const main = await one.head();
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await one.head()).toBe(main);
    expect(await one.repository.git("rev-parse", "updates~1")).toBe(main);
    const first = await one.head("updates");
    expect(await one.status()).toMatchObject({ lastPushCommit: first, observedSourceRevision: `main@sha1:${main}` });
    await one.policy("app", image("1.2.0"));
    await one.run();
    expect(await one.repository.git("rev-parse", "updates~1")).toBe(first);
    expect(`${await one.file("apps/app.yaml", "updates")}\n`).toBe(app(one, "1.2.0"));
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(one.events().at(-1)).toBe("Normal Succeeded: repository up-to-date");
  });

  test("a commit of another client on the push branch is kept", async () => {
    const one = await scene({ git: { push: { branch: "updates" } } });
    const own = await one.repository.commit({ "apps/app.yaml": app(one, "1.0.0") }, "updates");
    await one.run();
    expect(await one.repository.git("rev-parse", "updates~1")).toBe(own);
  });

  test("an invalid push branch name fails with Flux's text", async () => {
    const one = await ready({ git: { push: { branch: "not a branch" } } });
    expect(await one.conditions()).toEqual([
      inProgress,
      "Ready=False GitOperationFailed: failed to checkout source: could not checkout to branch 'not a branch': invalid reference name",
    ]);
  });

  test("image-automation/54: a refspec is pushed after the branch, and the event lists it", async () => {
    const refspec = "refs/heads/updates:refs/heads/mirror";
    const one = await ready({ git: { push: { branch: "updates", refspec } } });
    const head = await one.head("updates");
    expect(await one.head("mirror")).toBe(head);
    expect(one.events().at(-1)).toBe(
      `Normal Succeeded: pushed commit '${head.slice(0, 7)}' to branch 'updates' and refspecs '${refspec}'\nUpdate from image update automation`,
    );
  });

  test("image-automation/54: a refspec from HEAD fails after the branch is pushed, and the status records no push", async () => {
    const one = await ready({ git: { push: { refspec: "HEAD:refs/for/main" } } });
    expect((await one.conditions()).at(-1)).toMatch(
      /^Ready=False GitOperationFailed: failed to update source: failed to push to remote: already up-to-date/,
    );
    expect(await one.commits()).toBe(2);
    expect((await one.status()).lastPushCommit).toBeUndefined();
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(await one.conditions()).toEqual([upToDate]);
  });

  test("a refspec that the server rejects is reported until the server accepts it, and causes no second commit", async () => {
    const refspec = "refs/heads/updates:refs/heads/mirror/updates";
    // No branch can be below another one.
    const one = await scene({ git: { push: { branch: "updates", refspec } } });
    await one.repository.git("branch", "mirror");
    for (let run = 1; run <= 3; run++) {
      expect(await one.run()).toMatchObject({ outcome: "failed" });
      expect((await one.conditions()).at(-1)).toMatch(
        /^Ready=False GitOperationFailed: failed to update source: failed to push to remote: .*refs\/heads\/mirror\/updates/,
      );
      expect((await one.status()).lastPushCommit).toBeUndefined();
    }
    const head = await one.head("updates");
    await one.repository.git("branch", "-D", "mirror");
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await one.head("mirror/updates")).toBe(head);
    expect(await one.head("updates")).toBe(head);
    expect((await one.status()).lastPushCommit).toBe(head);
    expect(await one.conditions()).toEqual([upToDate]);
  });

  test("image-automation/56: fails if no branch is set anywhere", async () => {
    const one = await ready({ source: { ref: { tag: "v1.0.0" } } });
    expect(await one.conditions()).toEqual([
      inProgress,
      "Ready=False SourceManagerFailed: failed configuring source manager: push spec not provided, and cannot be inferred from .spec.git.checkout.ref or GitRepository .spec.ref",
    ]);
  });

  test("may check out a tag if the push branch is set", async () => {
    const one = await scene({ git: { checkout: { ref: { semver: "1.x" } }, push: { branch: "updates" } } });
    const tagged = await one.head();
    await one.repository.git("tag", "-a", "v1.2.0", "-m", "One", tagged);
    await one.repository.commit({ "later.yaml": "a: b\n" });
    await one.run();
    expect(await one.repository.git("rev-parse", "updates~1")).toBe(tagged);
    expect((await one.status()).observedSourceRevision).toBe(`v1.2.0@sha1:${tagged}`);
  });

  test("a missing branch fails with Flux's text", async () => {
    const one = await ready({ git: { checkout: { ref: { branch: "missing" } } } });
    expect((await one.conditions()).at(-1)).toBe(
      `Ready=False GitOperationFailed: failed to checkout source: unable to clone '${one.server.url}': couldn't find remote ref "refs/heads/missing"`,
    );
  });
});

describe.skipIf(gitPrograms === undefined)("concurrent pushes to the branch of an ImageUpdateAutomation", () => {
  test("a commit of another client between clone and push is kept, and the update follows it in the same run", async () => {
    const one = await scene();
    let others = 0;
    one.state.onPush = async () => {
      if (others++ === 0) await one.repository.commit({ "apps/app.yaml": app(one, "1.0.0"), "other.yaml": "a: b\n" });
    };
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await one.file("other.yaml")).toBe("a: b");
    expect(`${await one.file("apps/app.yaml")}\n`).toBe(app(one, "1.1.0"));
    expect(await one.commits()).toBe(3);
    expect((await one.status()).lastPushCommit).toBe(await one.head());
  });

  test("two automations that set the same marker at the same time make one commit", async () => {
    const one = await scene();
    await one.automation({}, {}, "second");
    one.state.onPush = async () => {
      one.state.onPush = async () => undefined;
      expect(await one.run("second")).toMatchObject({ outcome: "pushed" });
    };
    expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    expect(await one.commits()).toBe(2);
    expect(await one.conditions()).toEqual([upToDate]);
  });

  test("each of two markers for the same image follows the policy that it names", async () => {
    const one = await scene();
    await one.policy("canary", image("2.0.0"));
    const canary = (tag: string): string => marked(`ghcr.io/acme/app:${tag}`, `${one.namespace}:canary`);
    await one.repository.commit({ "apps/app.yaml": app(one, "1.0.0"), "apps/canary.yaml": canary("1.0.0") });
    await one.run();
    expect(`${await one.file("apps/app.yaml")}\n`).toBe(app(one, "1.1.0"));
    expect(`${await one.file("apps/canary.yaml")}\n`).toBe(canary("2.0.0"));
  });

  test("image-automation/66: a branch that keeps moving is never force-pushed: the run fails, and the next one succeeds", async () => {
    const one = await scene();
    let others = 0;
    one.state.onPush = async () => {
      await one.repository.commit({ "apps/app.yaml": app(one, "1.0.0"), "other.yaml": `a: ${others++}\n` });
    };
    expect(await one.run()).toMatchObject({ outcome: "failed", dueInMs: 750 });
    expect(others).toBe(3);
    expect((await one.conditions()).at(-1)).toMatch(
      /^Ready=False GitOperationFailed: failed to update source: failed to push to remote: /,
    );
    expect((await one.conditions())[0]).toBe(inProgress);
    expect(await one.commits()).toBe(4);
    one.state.onPush = async () => undefined;
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
    expect(await one.commits()).toBe(5);
  });

  test("a forced push does not lose a commit of another client on the push branch", async () => {
    const one = await scene({ git: { push: { branch: "updates" } } });
    await one.run();
    await one.policy("app", image("1.2.0"));
    let others = 0;
    one.state.onPush = async () => {
      if (others++ > 0) return;
      await one.repository.commit({ "apps/app.yaml": app(one, "1.1.0"), "other.yaml": "a: b\n" }, "updates");
    };
    await one.run();
    expect(await one.file("other.yaml", "updates")).toBe("a: b");
    expect(`${await one.file("apps/app.yaml", "updates")}\n`).toBe(app(one, "1.2.0"));
  });

  test("a push that a hook declines fails with the server's message, and nothing is lost", async () => {
    const one = await scene();
    const hook = `${one.repository.root}/repository.git/hooks/pre-receive`;
    await writeFile(hook, "#!/bin/sh\necho no such luck\nexit 1\n", { mode: 0o755 });
    await one.run();
    expect((await one.conditions()).at(-1)).toMatch(
      /^Ready=False GitOperationFailed: failed to update source: failed to push to remote: command error on refs\/heads\/main: pre-receive hook declined/,
    );
    expect((await one.conditions())[0]).toBe(inProgress);
    expect(await one.commits()).toBe(1);
    await writeFile(hook, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    expect(await one.run()).toMatchObject({ outcome: "pushed" });
  });
});
