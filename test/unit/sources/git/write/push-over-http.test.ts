import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { homeNetwork } from "../../../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../../../lib/http/http-client.ts";
import type { GitFault } from "../../../../../lib/sources/git/git-fault.ts";
import { defaultGitLimits } from "../../../../../lib/sources/git/git-remote.ts";
import { httpTransport } from "../../../../../lib/sources/git/http-transport.ts";
import { openGitRemote } from "../../../../../lib/sources/git/open-git-remote.ts";
import type { CommitAuthor, GitClone } from "../../../../../lib/sources/git/write/git-clone.ts";
import {
  type CloneOptions,
  openGitClone,
  type WritableRepository,
} from "../../../../../lib/sources/git/write/open-git-clone.ts";
import { never } from "../../../../contract/state-back-end.ts";
import {
  type GitRepository,
  type GitServer,
  gitPrograms,
  gitRepository,
  gitServer,
} from "../../../../doubles/git-server.ts";

const author: CommitAuthor = { name: "Flux", email: "flux@example.com", at: 1_700_000_000_999 };
const main = "refs/heads/main";

function files(changes: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, Buffer | undefined> {
  return new Map(
    Object.entries(changes).map(([path, text]) => [path, text === undefined ? undefined : Buffer.from(text)]),
  );
}

// Each push is several processes of git.
describe.skipIf(gitPrograms === undefined)("a push to git http-backend", () => {
  let opened: AsyncDisposableStack;
  let repository: GitRepository;
  let server: GitServer;
  beforeEach(async () => {
    opened = new AsyncDisposableStack();
    repository = opened.use(await gitRepository());
    await repository.git("config", "http.receivepack", "true");
    await repository.git("config", "transfer.fsckObjects", "true");
    server = opened.use(await gitServer(repository));
  });
  afterEach(() => opened.disposeAsync());

  function connect(url = server.url): WritableRepository {
    const http = httpClient({ network: homeNetwork });
    opened.defer(() => http.close());
    const remote = opened.use(openGitRemote(httpTransport({ url }, http)));
    const receive = httpTransport({ url, service: "git-receive-pack" }, http);
    return { remote, receive, limits: defaultGitLimits, [Symbol.asyncDispose]: () => Promise.resolve() };
  }

  /** A clone at the head of a branch, or of a new one that begins at the head of main. */
  async function clone(branch = "main", options: Partial<CloneOptions> = {}): Promise<GitClone> {
    const writable = connect();
    const listed = await writable.remote.list(["refs/heads/"], never);
    const oidOf = (name: string) => listed.find((ref) => ref.name === `refs/heads/${name}`)?.oid;
    const checkout = oidOf(branch) ?? oidOf("main");
    return opened.use(await openGitClone(writable, { checkout, listed, ...options }, never));
  }

  function commit(on: GitClone, changes: Readonly<Record<string, string | undefined>>, message = "Update\n") {
    return on.commit({ files: files(changes), message, author }, never);
  }

  function push(from: GitClone, refs: readonly string[] = [main], options: readonly string[] = []) {
    const pushed = refs.map((ref) => ({ ref: ref.replace(/^\+/, ""), force: ref.startsWith("+") }));
    return from.push(pushed, { options }, never);
  }

  async function faultOf(work: Promise<unknown>): Promise<readonly [string, string]> {
    const fault = await work.then(
      () => Promise.reject(new Error("it did not fail")),
      (error: GitFault) => error,
    );
    return [fault.reason, fault.message];
  }

  async function hook(name: string, script: string): Promise<void> {
    await writeFile(join(repository.root, "repository.git/hooks", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  test("image-automation/51: adds one commit with the author as committer, which git fsck accepts", async () => {
    const before = await repository.commit({
      "a.yaml": "a\n",
      "b/c.yaml": "c\n",
      "b/d/e.yaml": "e\n",
      "b-/f.yaml": "f\n",
    });
    const own = await clone();
    const oid = await commit(own, { "b/d/e.yaml": "E\n", "n/e/w.yaml": "new\n" }, "Update\n\nwith a body\n");
    expect(own.head).toBe(oid);
    expect(await repository.git("rev-parse", main)).toBe(before);
    await push(own);
    expect(await repository.git("log", "--format=%H %P %an <%ae> %at %cn <%ce> %ct %B", "-1", "main")).toBe(
      `${oid} ${before} Flux <flux@example.com> 1700000000 Flux <flux@example.com> 1700000000 Update\n\nwith a body\n`,
    );
    expect(await repository.git("fsck", "--strict", "--no-dangling")).toBe("");
    expect((await repository.git("ls-tree", "-r", "--name-only", "main")).split("\n")).toEqual([
      "a.yaml",
      "b-/f.yaml",
      "b/c.yaml",
      "b/d/e.yaml",
      "n/e/w.yaml",
    ]);
    expect(await repository.git("show", "main:b/d/e.yaml")).toBe("E");
  });

  test("handles the files of one folder if the server leaves out the others", async () => {
    const before = await repository.commit({ "apps/a.yaml": "a\n", "large/b.yaml": "b\n" });
    await repository.git("config", "uploadpack.allowFilter", "true");
    const own = await clone("main", { folders: ["apps"] });
    const found: string[] = [];
    for await (const file of own.files("apps", never)) {
      found.push(`${file.path}: ${Buffer.from(await file.read()).toString()}`);
    }
    expect(found).toEqual(["apps/a.yaml: a\n"]);
    const oid = await commit(own, { "apps/a.yaml": "A\n" });
    await push(own);
    expect(await repository.git("diff-tree", "-r", "--name-status", before, oid)).toBe("M\tapps/a.yaml");
    expect(await repository.git("show", "main:large/b.yaml")).toBe("b");
  });

  test("makes the first commit of an empty repository", async () => {
    const own = await clone();
    expect(own.head).toBeUndefined();
    const oid = await commit(own, { "clusters/prod/a.yaml": "a\n" });
    await push(own);
    expect(await repository.git("rev-parse", "HEAD")).toBe(oid);
    expect(await repository.git("show", "HEAD:clusters/prod/a.yaml")).toBe("a");
    expect(await repository.git("fsck", "--strict", "--no-dangling")).toBe("");
  });

  test("sends several commits at once, and after a push only the later ones", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    const first = await commit(own, { "a.yaml": "1\n" });
    const second = await commit(own, { "a.yaml": "2\n" });
    await push(own);
    const third = await commit(own, { "a.yaml": "3\n" });
    await push(own);
    expect((await repository.git("log", "--format=%H", "-3", "main")).split("\n")).toEqual([third, second, first]);
  });

  test("image-automation/53: creates a missing push branch, extends it afterwards, and never writes the other branch", async () => {
    const before = await repository.commit({ "a.yaml": "a\n" });
    const first = await clone("auto");
    const created = await commit(first, { "a.yaml": "1\n" });
    await push(first, ["+refs/heads/auto"]);
    const second = await clone("auto");
    const extended = await commit(second, { "a.yaml": "2\n" });
    await push(second, ["+refs/heads/auto"]);
    expect((await repository.git("log", "--format=%H", "auto")).split("\n")).toEqual([extended, created, before]);
    expect(await repository.git("rev-parse", "main")).toBe(before);
  });

  test("image-automation/54: updates a second reference after the branch, and several at once", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    const oid = await commit(own, { "a.yaml": "1\n" });
    await push(own);
    await push(own, ["refs/heads/copy"]);
    await push(own, ["refs/heads/x", "refs/heads/y"]);
    for (const ref of ["main", "copy", "x", "y"]) expect(await repository.git("rev-parse", ref)).toBe(oid);
    // There is nothing left to move.
    await push(own);
  });

  test("image-automation/55: push options arrive, and are left out if the server does not support them", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    await hook("post-receive", `env | grep ^GIT_PUSH_OPTION | sort > ${repository.root}/options`);
    const own = await clone();
    await commit(own, { "a.yaml": "1\n" });
    await push(own, [main], ["topic=images"]);
    expect(await readFile(join(repository.root, "options"), "utf8")).toBe("GIT_PUSH_OPTION_COUNT=0\n");
    await repository.git("config", "receive.advertisePushOptions", "true");
    await commit(own, { "a.yaml": "2\n" });
    await push(own, [main], ["merge_request.create", "merge_request.target=main"]);
    const told =
      "GIT_PUSH_OPTION_0=merge_request.create\nGIT_PUSH_OPTION_1=merge_request.target=main\nGIT_PUSH_OPTION_COUNT=2\n";
    expect(await readFile(join(repository.root, "options"), "utf8")).toBe(told);
    await commit(own, { "a.yaml": "3\n" });
    expect(await faultOf(push(own, [main], ["a=b\nc"]))).toEqual([
      "refused",
      'the push option "a=b\\nc" has a line feed or NUL character, which git does not send',
    ]);
  });

  test("image-automation/66: a branch that has moved is not overwritten, and a fresh clone can push", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    await commit(own, { "a.yaml": "ours\n" });
    const theirs = await repository.commit({ "a.yaml": "theirs\n" });
    for (const ref of [main, `+${main}`]) {
      expect(await faultOf(push(own, [ref]))).toEqual(["moved", "non-fast-forward update: refs/heads/main"]);
    }
    expect(await repository.git("rev-parse", "main")).toBe(theirs);
    const fresh = await clone();
    const oid = await commit(fresh, { "a.yaml": "ours\n" });
    await push(fresh);
    expect(await repository.git("log", "--format=%H", "-2", "main")).toBe(`${oid}\n${theirs}`);
  });

  test("a branch that was deleted or created meanwhile counts as moved", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    await commit(own, { "a.yaml": "ours\n" });
    await repository.commit({ "a.yaml": "theirs\n" }, "new");
    expect(await faultOf(push(own, ["+refs/heads/new"]))).toEqual(["moved", "non-fast-forward update: refs/heads/new"]);
    await repository.git("update-ref", "-d", main);
    expect(await faultOf(push(own))).toEqual(["moved", "non-fast-forward update: refs/heads/main"]);
    expect(await repository.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/new");
  });

  test("a branch that is not an ancestor of the pushed commit moves only by force", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const other = await repository.commit({ "b.yaml": "b\n" }, "other");
    const own = await clone();
    const oid = await commit(own, { "a.yaml": "ours\n" });
    expect(await faultOf(push(own, ["refs/heads/other"]))).toEqual([
      "refused",
      `non-fast-forward update: refs/heads/other: it names ${other}, which the pushed commit is not known to follow`,
    ]);
    expect(await repository.git("rev-parse", "other")).toBe(other);
    await push(own, ["+refs/heads/other"]);
    expect(await repository.git("rev-parse", "other")).toBe(oid);
  });

  test("if two clones push at the same time, exactly one succeeds", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const clones = [await clone(), await clone(), await clone()];
    const oids = await Promise.all(clones.map((one, index) => commit(one, { "a.yaml": `${index}\n` })));
    const ends = await Promise.allSettled(clones.map((one) => push(one)));
    const won = oids.filter((_, index) => ends[index]?.status === "fulfilled");
    expect(won).toEqual([await repository.git("rev-parse", "main")]);
    const lost = ends
      .filter((end) => end.status === "rejected")
      .map(({ reason }: { reason: GitFault }) => reason.reason);
    expect(lost).toEqual(["moved", "moved"]);
    expect(await repository.git("rev-list", "--count", "main")).toBe("2");
  });

  test("a hook that declines is reported with the server's text, masked, and nothing changes", async () => {
    const before = await repository.commit({ "a.yaml": "a\n" });
    await hook("pre-receive", 'echo "GH006: main is protected, see https://u:hunter2@git.test/" >&2; exit 1');
    const own = await clone();
    await commit(own, { "a.yaml": "1\n" });
    expect(await faultOf(push(own))).toEqual([
      "refused",
      "command error on refs/heads/main: pre-receive hook declined; the server says: GH006: main is protected, see https://u:*****@git.test/",
    ]);
    expect(await repository.git("rev-parse", "main")).toBe(before);
    // The same clone may try again.
    await hook("pre-receive", "exit 0");
    await push(own);
    expect(await repository.git("rev-parse", "main")).toBe(own.head);
  });

  test("if the server declines one of several references, none moves", async () => {
    const before = await repository.commit({ "a.yaml": "a\n" });
    await hook("update", 'test "$1" != refs/heads/no');
    const own = await clone();
    await commit(own, { "a.yaml": "1\n" });
    expect(await faultOf(push(own, [main, "refs/heads/no"]))).toEqual([
      "refused",
      "command error on refs/heads/no: hook declined; the server says: error: hook declined to update refs/heads/no",
    ]);
    expect(await repository.git("for-each-ref", "--format=%(objectname) %(refname)")).toBe(`${before} ${main}`);
  });

  test("a read-only or missing repository is reported as such", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    await commit(own, { "a.yaml": "1\n" });
    await repository.git("config", "http.receivepack", "false");
    expect(await faultOf(push(own))).toEqual([
      "authorization",
      `${server.url}/info/refs: authorization failed (status code 403)`,
    ]);
    const gone = await openGitClone(
      connect(server.url.replace("repository", "gone")),
      { checkout: undefined, listed: [] },
      never,
    );
    await commit(gone, { "a.yaml": "1\n" });
    expect((await faultOf(push(gone)))[0]).toBe("not-found");
  });

  test("sends nothing to the server before the push, and reports if there is nothing to push", async () => {
    const own = await clone();
    expect(await faultOf(push(own))).toEqual(["missing", "there is nothing to push: the repository has no commit yet"]);
    await commit(own, { "a.yaml": "1\n" });
    await own[Symbol.asyncDispose]();
    expect(await repository.git("count-objects")).toBe("0 objects, 0 kilobytes");
  });

  test("a push whose answer was lost counts as done if the server has it, and otherwise fails", async () => {
    const before = await repository.commit({ "a.yaml": "a\n" });
    let isDone = true;
    const losing = opened.use(
      await gitServer(repository, {
        before: (request, response, next) => {
          if (request.method === "POST" && request.url?.endsWith("receive-pack") === true) {
            response.writeHead = () => response;
            response.write = () => true;
            response.end = () => response.destroy();
            if (!isDone) return void response.end();
          }
          next();
        },
      }),
    );
    const writable = connect(losing.url);
    const listed = await writable.remote.list(["refs/heads/"], never);
    const own = opened.use(await openGitClone(writable, { checkout: before, listed }, never));
    const first = await commit(own, { "a.yaml": "1\n" });
    await push(own);
    expect(await repository.git("rev-parse", "main")).toBe(first);
    isDone = false;
    await commit(own, { "a.yaml": "2\n" });
    expect((await faultOf(push(own)))[0]).toMatch(/^(?:protocol|unreachable)$/);
    expect(await repository.git("rev-parse", "main")).toBe(first);
  });

  test("a push is sent without a protocol version, which is only for reading", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    await commit(own, { "a.yaml": Array.from({ length: 2_000 }, (_, index) => `${index}\n`).join("") });
    server.seen.length = 0;
    await push(own);
    expect(
      server.seen.map(({ method, path, headers }) => [
        method,
        path,
        headers["git-protocol"],
        headers["content-encoding"],
        headers["content-type"],
      ]),
    ).toEqual([
      ["GET", "/repository.git/info/refs?service=git-receive-pack", undefined, undefined, undefined],
      ["POST", "/repository.git/git-receive-pack", undefined, undefined, "application/x-git-receive-pack-request"],
    ]);
  });

  test("an aborted push throws the reason of its signal", async () => {
    await repository.commit({ "a.yaml": "a\n" });
    const own = await clone();
    await commit(own, { "a.yaml": "1\n" });
    const reason = new Error("the run has ended");
    await expect(own.push([{ ref: main, force: false }], { options: [] }, AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });
});
