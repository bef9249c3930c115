import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gitFolder, maxGitAnswerBytes, withoutCredentials } from "../../../cli/git-folder.ts";
import { messageOf } from "../../../lib/core/failure.ts";

let folder: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-git-"));
  const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const own = { HOME: folder, GIT_CONFIG_NOSYSTEM: "1", GIT_CEILING_DIRECTORIES: tmpdir() };
  env = { PATH: process.env["PATH"] ?? "", ...own, ...author };
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs git as a user does, in the repository. */
function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

/** A repository on `main` with one commit of `deploy/web.yaml`. Answers the commit. */
async function committed(): Promise<string> {
  await mkdir(join(folder, "deploy"));
  await writeFile(join(folder, "deploy", "web.yaml"), "kind: Web\n");
  git("init", "-q", "-b", "main");
  git("remote", "add", "origin", "https://eve:hunter2@git.test/org/app.git");
  git("add", "deploy");
  git("commit", "-q", "-m", "one");
  return git("rev-parse", "HEAD");
}

const of = (path: string, more: Record<string, string> = {}) =>
  gitFolder(join(folder, path), { ...env, ...more }, new AbortController().signal);

describe("the revision of a folder is", () => {
  test("the branch and the commit, also for a file in the folder", async () => {
    const commit = await committed();
    expect(await (await of("deploy")).revision()).toBe(`main@sha1:${commit}`);
    expect(await (await of("deploy/web.yaml")).revision()).toBe(`main@sha1:${commit}`);
  });

  test("the tag and the commit if a tag is checked out, and only the commit if no branch or tag is", async () => {
    const commit = await committed();
    git("checkout", "-q", "--detach");
    expect(await (await of("deploy")).revision()).toBe(`sha1:${commit}`);
    git("tag", "v1.2.0");
    expect(await (await of("deploy")).revision()).toBe(`v1.2.0@sha1:${commit}`);
  });
});

test.each([
  ["https://git.test/org/app.git", "https://git.test/org/app.git"],
  ["https://eve:hunter2@git.test/org/app.git", "https://git.test/org/app.git"],
  ["https://hunter2@git.test:8443/app?private_token=hunter2#hunter2", "https://git.test:8443/app"],
  ["ssh://git:hunter2@git.test:22/app", "ssh://git@git.test:22/app"],
  ["git@git.test:org/app.git", "git@git.test:org/app.git"],
  ["work:org/app.git", "work:org/app.git"],
  ["/srv/git/app.git", "/srv/git/app.git"],
  ["file:///srv/git/app.git", "file:///srv/git/app.git"],
  ["ext::sh -c hunter2", undefined],
  ["helper::https://eve:hunter2@git.test/app", undefined],
  ["eve:hunter2@git.test:app", undefined],
  ["../app", undefined],
])("the remote %s is shown as %s", (remote, shown) => {
  expect(withoutCredentials(remote)).toBe(shown);
});

test("the source of a folder is the address of origin without credentials", async () => {
  await committed();
  expect(await (await of("deploy")).source()).toBe("https://git.test/org/app.git");
});

test("a folder is judged by its own repository even if the environment names another, as in a hook of git", async () => {
  const commit = await committed();
  const names = git("rev-parse", "--local-env-vars").split("\n");
  expect(names).toContain("GIT_DIR");
  for (const name of names) {
    const { source, revision, isChanged } = await of("deploy", { [name]: join(folder, "elsewhere") });
    const answers = [name, await source(), await revision(), await isChanged()];
    expect(answers).toEqual([name, "https://git.test/org/app.git", `main@sha1:${commit}`, false]);
  }
});

describe("a folder has changed", () => {
  test("with a changed or a new file in it, and not with changes elsewhere or with ignored files", async () => {
    await committed();
    const isChanged = async () => (await of("deploy")).isChanged();
    expect(await isChanged()).toBe(false);
    await writeFile(join(folder, "elsewhere.yaml"), "");
    await writeFile(join(folder, ".git", "info", "exclude"), "*.log\n");
    await writeFile(join(folder, "deploy", "debug.log"), "");
    expect(await isChanged()).toBe(false);
    await writeFile(join(folder, "deploy", "new.yaml"), "");
    expect(await isChanged()).toBe(true);
    expect(await (await of("deploy/web.yaml")).isChanged()).toBe(false);
    await writeFile(join(folder, "deploy", "web.yaml"), "kind: Other\n");
    expect(await (await of("deploy/web.yaml")).isChanged()).toBe(true);
  });
});

describe("a repository whose configuration names programs runs none of them", () => {
  /** Has every question of git answered, with an error or not. */
  async function askAll(): Promise<void> {
    const { source, revision, isChanged } = await of("deploy");
    await Promise.allSettled([source(), revision(), isChanged()]);
  }

  test.each([
    "fsmonitor",
    "clean filter",
    "clean filter after more filters than git may list",
    "filter process",
    "hook",
    "transport of a missing object",
  ])("%s", async (how) => {
    await committed();
    const marker = join(folder, "ran");
    const program = join(folder, "program");
    await writeFile(program, `#!/bin/sh\ntouch ${marker}\n`);
    await chmod(program, 0o755);
    const plant: Record<string, () => unknown> = {
      fsmonitor: () => git("config", "core.fsmonitor", program),
      "clean filter": () => filter("clean"),
      async "clean filter after more filters than git may list"() {
        const line = "\tclean = cat\n";
        const lines = line.repeat(Math.ceil(maxGitAnswerBytes / "filter.a.clean\0".length));
        await writeFile(join(folder, ".git", "config"), `[filter "a"]\n${lines}`, { flag: "a" });
        await filter("clean");
      },
      "filter process": () => filter("process"),
      async hook() {
        await writeFile(join(folder, ".git", "hooks", "post-index-change"), `#!/bin/sh\ntouch ${marker}\n`);
        await chmod(join(folder, ".git", "hooks", "post-index-change"), 0o755);
        await touched();
      },
      async "transport of a missing object"() {
        for (const [key, value] of [
          ["remote.origin.url", `ext::${program}`],
          ["remote.origin.promisor", "true"],
          ["extensions.partialClone", "origin"],
          ["core.repositoryFormatVersion", "1"],
          ["protocol.ext.allow", "always"],
        ] as const)
          git("config", key, value);
        const objects = join(folder, ".git", "objects");
        for (const each of await readdir(objects)) await rm(join(objects, each), { recursive: true });
      },
    };
    /** The index no longer knows the file by its times, so that git compares its content. */
    const touched = () => utimes(join(folder, "deploy", "web.yaml"), 1, 1);
    async function filter(kind: "clean" | "process"): Promise<void> {
      await writeFile(join(folder, ".git", "info", "attributes"), "* filter=a=b.c\n");
      // As `git config` would write it; its own command line cannot say such a name.
      await writeFile(join(folder, ".git", "config"), `[filter "a=b.c"]\n\t${kind} = ${program}\n\trequired = true\n`, {
        flag: "a",
      });
      await touched();
    }
    await plant[how]?.();
    await askAll();
    expect(existsSync(marker)).toBe(false);
    // The same question of a git that is not held back runs it.
    try {
      git("status", "--porcelain");
    } catch {
      // The program answers nothing that git understands.
    }
    expect(existsSync(marker)).toBe(true);
  });
});

describe("a missing fact about the git folder is reported with its reason", () => {
  const fault = (asked: Promise<unknown>) => asked.then(() => "", messageOf);

  test("outside of a repository", async () => {
    expect(await fault((await of(".")).source())).toMatch(/^not a git repository/);
    expect(await fault((await of(".")).revision())).toMatch(/^not a git repository/);
  });

  test("without a remote or a commit", async () => {
    git("init", "-q");
    expect(await fault((await of(".")).source())).toBe("its git repository has no remote origin");
    expect(await fault((await of(".")).revision())).toBe("its git repository has no commit");
  });

  test("with a remote that cannot be shown, and without repeating it", async () => {
    git("init", "-q");
    git("remote", "add", "origin", "ext::sh -c hunter2");
    expect(await fault((await of(".")).source())).toBe("its remote origin is not an address of git that can be shown");
  });

  test("in a repository of another user, which git refuses unless safe.directory has it", async () => {
    await committed();
    const foreign = await of("deploy", { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" });
    expect(await fault(foreign.revision())).toContain("detected dubious ownership");
  });

  test("without git", async () => {
    expect(await fault((await of(".", { PATH: folder })).revision())).toBe("git is not installed");
  });
});
