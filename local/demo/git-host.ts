import { execFile } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { listenOnLoopback } from "../loopback/listen-on-loopback.ts";
import { example } from "./actions.ts";
import { gitEnvironment, gitPrograms, serveGit } from "./git-http-backend.ts";

const run = promisify(execFile);

const author = {
  GIT_AUTHOR_NAME: "A team",
  GIT_AUTHOR_EMAIL: "team@example.com",
  GIT_COMMITTER_NAME: "A team",
  GIT_COMMITTER_EMAIL: "team@example.com",
};

/** A push, and what became of its webhook. */
export interface GitPush {
  /** As the source will show it: `main@sha1:<commit>`. */
  readonly revision: string;
  /** When the push had ended, wall time in milliseconds. */
  readonly at: number;
}

/** A git host on loopback with one repository, and a team that works on it: `git push` and a webhook as GitHub sends it. */
export interface GitHost extends AsyncDisposable {
  readonly url: string;
  /** The webhook's token, for the Secret of the Receiver. */
  readonly token: string;
  /** Commits an edit of the manifests to `main` and pushes it. Nothing is announced yet. */
  push(edit: (folder: string) => Promise<unknown>): Promise<GitPush>;
  /** The commits of `main` as the host has them, the newest first. */
  log(): Promise<readonly { readonly commit: string; readonly message: string }[]>;
  /** Sends the delivery of a push to a webhook and answers the status. `key` signs it: the right one by default. */
  deliver(webhook: string, push: GitPush, key?: string): Promise<number>;
}

/** Serves the manifests of the example, as one commit, by git's own programs. Throws an error without them. */
export async function startGitHost(signal: AbortSignal): Promise<GitHost> {
  if (gitPrograms === undefined) {
    throw new Error("this story needs git with its http-backend: install the package git of your system");
  }
  await using starting = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), "sluice-demo-git-"));
  starting.defer(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, "work");
  const env = { ...gitEnvironment, ...author };
  const git = async (...args: readonly string[]): Promise<string> =>
    (await run("git", [...args], { cwd: folder, env, signal })).stdout.trim();
  const bare = join(root, "team", "app.git");
  await run("git", ["init", "--quiet", "--bare", "--initial-branch=main", bare], { env, signal });
  await run("git", ["config", "http.receivepack", "true"], { cwd: bare, env, signal });
  const server = createServer((request, response) => serveGit(root, request, response));
  const listening = await listenOnLoopback(server, 0, { name: "the git host", option: "" });
  starting.defer(() => listening.close());
  const url = `http://127.0.0.1:${listening.port}/team/app.git`;
  await run("git", ["init", "--quiet", "--initial-branch=main", folder], { env, signal });
  await cp(join(example, "manifests"), folder, { recursive: true });
  /** As a team does it: others write to the repository at the same time. */
  const pushed = async (tries = 5): Promise<void> => {
    try {
      await git("push", "--quiet", url, "main");
    } catch (error) {
      if (tries === 1) throw error;
      await git("pull", "--quiet", "--rebase", url, "main");
      await pushed(tries - 1);
    }
  };
  const push = async (): Promise<GitPush> => {
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "change the manifests");
    await pushed();
    return { revision: `main@sha1:${await git("rev-parse", "HEAD")}`, at: Date.now() };
  };
  await push();
  const token = randomBytes(20).toString("hex");
  const running = starting.move();
  return {
    url,
    token,
    async push(edit) {
      await git("pull", "--quiet", "--ff-only", url, "main");
      await edit(folder);
      return push();
    },
    async log() {
      const args = ["log", "--format=%H %s", "main"];
      const { stdout } = await run("git", args, { cwd: bare, env, signal });
      return stdout
        .trim()
        .split("\n")
        .map((line) => ({ commit: line.slice(0, line.indexOf(" ")), message: line.slice(line.indexOf(" ") + 1) }));
    },
    async deliver(webhook, { revision }, key = token) {
      const after = revision.slice(revision.indexOf(":") + 1);
      const body = JSON.stringify({ ref: "refs/heads/main", after, repository: { full_name: "team/app" } });
      const signature = createHmac("sha256", key).update(body).digest("hex");
      const headers = {
        "content-type": "application/json",
        "x-github-event": "push",
        "x-hub-signature-256": `sha256=${signature}`,
      };
      const { status } = await fetch(webhook, { method: "POST", headers, body, signal });
      return status;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
