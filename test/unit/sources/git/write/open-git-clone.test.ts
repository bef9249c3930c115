import { describe, expect, test } from "vitest";
import { GitFault } from "../../../../../lib/sources/git/git-fault.ts";
import { maxCommitBytes } from "../../../../../lib/sources/git/git-object.ts";
import { defaultGitLimits } from "../../../../../lib/sources/git/git-remote.ts";
import type { GitTransport } from "../../../../../lib/sources/git/git-transport.ts";
import { flushPkt, pktLine } from "../../../../../lib/sources/git/pkt-line.ts";
import { commitBytes } from "../../../../../lib/sources/git/write/commit-bytes.ts";
import type { CloneFile, CommitAuthor, GitClone } from "../../../../../lib/sources/git/write/git-clone.ts";
import { openGitClone } from "../../../../../lib/sources/git/write/open-git-clone.ts";
import { never } from "../../../../contract/state-back-end.ts";
import { type MemoryFile, memoryGit } from "../../../../doubles/memory-git.ts";

const author: CommitAuthor = { name: "Flux", email: "flux@example.com", at: 1_700_000_000_000 };
const main = [{ ref: "refs/heads/main", force: false }];

/** A server that greets with these lines, and answers nothing else. */
function receiving(...lines: readonly string[]): GitTransport {
  async function* greeting(): AsyncGenerator<Uint8Array, void, undefined> {
    yield Buffer.from(lines.map(pktLine).join("") + flushPkt);
  }
  return {
    url: "https://git.test/app.git",
    isStateless: true,
    greet: async () => greeting(),
    send: () => Promise.reject(new Error("nothing is to be sent")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function clone(files: Readonly<Record<string, MemoryFile>>, receive = receiving()): Promise<GitClone> {
  const git = memoryGit();
  const checkout = git.commit(files);
  const remote = git.remote();
  return openGitClone(
    { remote, receive, limits: defaultGitLimits },
    { checkout, listed: await remote.list([], never) },
    never,
  );
}

async function filesOf(own: GitClone, folder = ""): Promise<readonly CloneFile[]> {
  const files: CloneFile[] = [];
  for await (const file of own.files(folder, never)) files.push(file);
  return files;
}

describe("the files of a clone", () => {
  const files = {
    "a/b.yaml": "b\n",
    "a-b.yaml": "c\n",
    "a/c/d.yaml": { exec: "d\n" },
    "a.yaml": { link: "a/b.yaml" },
    module: { commit: "1".repeat(40) },
  };

  test("are in git's order, with links and without submodules", async () => {
    const found = await filesOf(await clone(files));
    expect(found.map(({ path, type }) => `${type} ${path}`)).toEqual([
      "file a-b.yaml",
      "symlink a.yaml",
      "file a/b.yaml",
      "executable a/c/d.yaml",
    ]);
    const [, link, file] = found;
    expect(Buffer.from((await link?.read()) ?? []).toString()).toBe("a/b.yaml");
    expect(Buffer.from((await file?.read()) ?? []).toString()).toBe("b\n");
  });

  test("are those of the folder or the single file, and none if the path is missing", async () => {
    const own = await clone(files);
    const paths = async (folder: string) => (await filesOf(own, folder)).map(({ path }) => path);
    expect(await paths("a")).toEqual(["a/b.yaml", "a/c/d.yaml"]);
    expect(await paths("a/c/d.yaml")).toEqual(["a/c/d.yaml"]);
    expect(await paths("b")).toEqual([]);
  });

  test("are those of the last commit, also in an initially empty repository", async () => {
    const remote = memoryGit().remote();
    const own = await openGitClone(
      { remote, receive: receiving(), limits: defaultGitLimits },
      { checkout: undefined, listed: [] },
      never,
    );
    expect(await filesOf(own)).toEqual([]);
    await own.commit({ files: new Map([["x.yaml", Buffer.from("1")]]), message: "", author }, never);
    const [file] = await filesOf(own);
    expect([file?.path, Buffer.from((await file?.read()) ?? []).toString()]).toEqual(["x.yaml", "1"]);
  });
});

describe("a commit of a clone", () => {
  test("image-automation/50: is not made if nothing changes", async () => {
    const own = await clone({ "a.yaml": "a\n" });
    const before = own.head;
    const same = { files: new Map([["a.yaml", Buffer.from("a\n")]]), message: "Update", author };
    expect(await own.commit(same, never)).toBe(before);
    expect(own.head).toBe(before);
  });

  test("cannot start from an object that is not a commit", async () => {
    const git = memoryGit();
    const commit = git.commit({ "a.yaml": "a\n" });
    git.tag("v1", commit, "Release");
    const remote = git.remote();
    const [tag] = await remote.list(["refs/tags/"], never);
    const opening = openGitClone(
      { remote, receive: receiving(), limits: defaultGitLimits },
      { checkout: tag?.oid, listed: [] },
      never,
    );
    await expect(opening).rejects.toEqual(
      new GitFault("missing", `object ${tag?.oid} is a tag, not a commit that can be worked on`),
    );
  });

  const bytes = (parts: Partial<Parameters<typeof commitBytes>[0]>): Promise<Buffer> =>
    commitBytes({ tree: "1".repeat(40), parent: undefined, author, message: "Update\n", ...parts }, never);

  test("gets no header from a line break in its author or message", async () => {
    const name = " Eve\nparent 2 <eve@evil>\n., ";
    const email = "a@b>\n\ngpgsig x";
    const written = await bytes({ author: { ...author, name, email }, message: "a\0b\ud800" });
    expect(written.toString()).toBe(
      [
        `tree ${"1".repeat(40)}`,
        "author Eveparent 2 eve@evil <a@bgpgsig x> 1700000000 +0000",
        "committer Eveparent 2 eve@evil <a@bgpgsig x> 1700000000 +0000",
        "",
        "ab\ufffd",
      ].join("\n"),
    );
  });

  test("may have an author without a name", async () => {
    expect((await bytes({ author: { ...author, name: "" } })).toString()).toContain("author  <flux@example.com> 17");
  });

  test("has its signature as a multi-line header over everything else", async () => {
    const unsigned = await bytes({});
    const seen: Uint8Array[] = [];
    const sign = async (given: Uint8Array) => {
      seen.push(given);
      return "-----BEGIN\r\n\r\nx\r\n-----END\r\n";
    };
    const signed = await bytes({ sign });
    expect(seen).toEqual([unsigned]);
    expect(signed.toString()).toBe(unsigned.toString().replace("\n\n", "\ngpgsig -----BEGIN\n \n x\n -----END\n\n"));
  });

  test("has a size limit", async () => {
    await expect(bytes({ message: "x".repeat(maxCommitBytes) })).rejects.toEqual(
      new GitFault("too-large", `the commit has more than ${maxCommitBytes} bytes: its message is too long`),
    );
  });
});

describe("a push", () => {
  test("is not started over protocol version 2, which has no push", async () => {
    const own = await clone({ "a.yaml": "a\n" }, receiving("version 2"));
    await expect(own.push(main, { options: [] }, never)).rejects.toEqual(
      new GitFault("protocol", "the answer is not git's: a push has no version 2 of the protocol"),
    );
  });

  test("sends nothing if every reference is up to date", async () => {
    const git = memoryGit();
    const checkout = git.commit({ "a.yaml": "a\n" });
    const remote = git.remote();
    const receive = receiving(`${checkout} refs/heads/main\0report-status`);
    const listed = await remote.list([], never);
    const own = await openGitClone({ remote, receive, limits: defaultGitLimits }, { checkout, listed }, never);
    await own.push(main, { options: [] }, never);
    expect(own.head).toBe(checkout);
  });

  test("fails with Flux's text if the server does not answer in time", async () => {
    const late = { list: "", fetch: 'Post "https://git.test/app.git/git-receive-pack": context deadline exceeded' };
    const silent: GitTransport = {
      ...receiving(),
      late,
      greet: (signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true })),
    };
    const git = memoryGit();
    const checkout = git.commit({ "a.yaml": "a\n" });
    const limits = { ...defaultGitLimits, timeoutMs: 1 };
    const own = await openGitClone({ remote: git.remote(), receive: silent, limits }, { checkout, listed: [] }, never);
    await expect(own.push(main, { options: [] }, never)).rejects.toMatchObject({
      reason: "timeout",
      message: late.fetch,
    });
  });
});
