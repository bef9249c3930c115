import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import type { KnownServers } from "../../../../lib/sources/git/conversations.ts";
import { parseCommit, parseTag } from "../../../../lib/sources/git/git-object.ts";
import { defaultGitLimits, type GitObjects, type GitRemote } from "../../../../lib/sources/git/git-remote.ts";
import { walkTree } from "../../../../lib/sources/git/git-tree.ts";
import type { Greeting } from "../../../../lib/sources/git/greeting.ts";
import { type HttpTransportOptions, httpTransport } from "../../../../lib/sources/git/http-transport.ts";
import { openGitRemote } from "../../../../lib/sources/git/open-git-remote.ts";
import { never } from "../../../contract/state-back-end.ts";
import {
  type GitRepository,
  type GitServer,
  gitPrograms,
  gitRepository,
  gitServer,
} from "../../../doubles/git-server.ts";
import { pem } from "../../../doubles/pem.ts";

let opened: AsyncDisposableStack;
let repository: GitRepository;
beforeEach(async () => {
  opened = new AsyncDisposableStack();
  if (gitPrograms !== undefined) repository = opened.use(await gitRepository());
});
afterEach(() => opened.disposeAsync());

async function serve(isOld: boolean, options: Parameters<typeof gitServer>[1] = {}): Promise<GitServer> {
  return opened.use(await gitServer(repository, { isOld, ...options }));
}

function connect(url: string, known?: KnownServers, options: Partial<HttpTransportOptions> = {}): GitRemote {
  const http = httpClient({ network: homeNetwork });
  opened.defer(() => http.close());
  return opened.use(openGitRemote(httpTransport({ url, ...options }, http), defaultGitLimits, known));
}

async function filesOf(objects: GitObjects, commit: string): Promise<Readonly<Record<string, string>>> {
  const { tree } = parseCommit((await objects.read(commit)).bytes);
  const files: Record<string, string> = {};
  for await (const { path, type, oid } of walkTree(objects, tree)) {
    if (type === "file" && objects.has(oid)) files[path] = Buffer.from((await objects.read(oid)).bytes).toString();
  }
  return files;
}

const content = { "a.yaml": "kind: A\n", "deploy/b.yaml": "kind: B\n", "deploy/sub/c.yaml": "kind: C\n" };

// Each commit of a test is several processes of git.
describe.skipIf(gitPrograms === undefined).each([
  ["version 2", false],
  ["version 0", true],
])("git http-backend in %s", (_, isOld) => {
  test("lists refs by prefix, HEAD with its target, and tags with their commit", async () => {
    const commit = await repository.commit(content);
    await repository.commit(content, "feature/x");
    await repository.git("tag", "light", commit);
    await repository.git("tag", "-a", "-m", "Release", "v1.0.0", commit);
    const remote = connect((await serve(isOld)).url);
    const feature = await repository.git("rev-parse", "feature/x");
    const tag = await repository.git("rev-parse", "v1.0.0");
    expect(await remote.list(["HEAD", "refs/heads/"], never)).toEqual([
      { name: "HEAD", oid: commit, symref: "refs/heads/main" },
      { name: "refs/heads/feature/x", oid: feature },
      { name: "refs/heads/main", oid: commit },
    ]);
    expect(await remote.list(["refs/tags/"], never)).toEqual([
      { name: "refs/tags/light", oid: commit },
      { name: "refs/tags/v1.0.0", oid: tag, peeled: commit },
    ]);
    expect(await remote.list([], never)).toHaveLength(5);
    expect(await remote.list(["refs/pull/"], never)).toEqual([]);
    const moved = await repository.commit({ "a.yaml": "kind: D\n" });
    expect(await remote.list(["refs/heads/main"], never)).toEqual([{ name: "refs/heads/main", oid: moved }]);
  });

  test("lists nothing for an empty repository", async () => {
    expect(await connect((await serve(isOld)).url).list(["HEAD", "refs/"], never)).toEqual([]);
  });

  test("serves a commit without its history, repeatedly", async () => {
    const first = await repository.commit({ "old.yaml": "old\n" });
    const second = await repository.commit(content);
    const remote = connect((await serve(isOld)).url);
    await remote.list(["refs/heads/"], never);
    for (let times = 0; times < 2; times++) {
      await using objects = await remote.fetch([second], {}, never);
      expect(await filesOf(objects, second)).toEqual(content);
      expect(objects.has(first)).toBe(false);
      expect(parseCommit((await objects.read(second)).bytes).parents).toEqual([first]);
    }
  });

  test("serves an annotated tag with its target", async () => {
    const commit = await repository.commit(content);
    await repository.git("tag", "-a", "-m", "Release", "v1", commit);
    const tag = await repository.git("rev-parse", "v1");
    await using objects = await connect((await serve(isOld)).url).fetch([tag], {}, never);
    expect(parseTag((await objects.read(tag)).bytes)).toMatchObject({
      object: commit,
      name: "v1",
    });
    expect(await filesOf(objects, commit)).toEqual(content);
  });

  test("serves a commit that no ref names, if necessary with the history of a branch", async () => {
    const first = await repository.commit({ "old.yaml": "old\n" });
    const head = await repository.commit(content);
    const server = await serve(isOld);
    const remote = connect(server.url);
    await using objects = await remote.fetch([first], { within: [head] }, never);
    expect(await filesOf(objects, first)).toEqual({ "old.yaml": "old\n" });
    expect(objects.has(head)).toBe(isOld);
    await repository.git("config", "uploadpack.allowReachableSHA1InWant", "true");
    await using allowed = await connect(server.url).fetch([first], { within: [head] }, never);
    expect(allowed.has(head)).toBe(false);
  });

  test("does not serve missing objects", async () => {
    const head = await repository.commit(content);
    const remote = connect((await serve(isOld)).url);
    const absent = "1".repeat(40);
    const fault = { name: "GitFault", reason: "missing" };
    await expect(remote.fetch([absent], {}, never)).rejects.toMatchObject(fault);
    await expect(remote.fetch([absent], { within: [head] }, never)).rejects.toMatchObject({
      ...fault,
      message: expect.stringContaining(absent),
    });
    await expect(remote.fetch(["main"], {}, never)).rejects.toMatchObject({
      ...fault,
      message: expect.stringContaining('"main"'),
    });
    await using objects = await remote.fetch([head], {}, never);
    expect(objects.has(head)).toBe(true);
  });

  test("serves only the files of some folders if it supports filters", async () => {
    const commit = await repository.commit({ ...content, ".gitmodules": "", "deploy2/d.yaml": "kind: D\n" });
    await repository.git("config", "uploadpack.allowFilter", "true");
    const server = await serve(isOld);
    await using objects = await connect(server.url).fetch([commit], { folders: ["deploy"] }, never);
    const wanted = { "deploy/b.yaml": "kind: B\n", "deploy/sub/c.yaml": "kind: C\n" };
    const all = await filesOf(objects, commit);
    expect(all).toMatchObject(wanted);
    expect(Object.keys(all).toSorted()).toEqual(
      isOld
        ? [".gitmodules", "a.yaml", "deploy/b.yaml", "deploy/sub/c.yaml", "deploy2/d.yaml"]
        : [".gitmodules", "deploy/b.yaml", "deploy/sub/c.yaml"],
    );
    await using none = await connect(server.url).fetch([commit], { folders: ["absent"] }, never);
    expect(none.has(commit)).toBe(true);
  });

  test("packs deltas and long requests as git does", async () => {
    const lines = Array.from({ length: 2_000 }, (_line, index) => `line ${index}`);
    const commits: string[] = [];
    for (let index = 0; index < 30; index++) {
      lines[index * 7] = `changed ${index}`;
      commits.push(
        await repository.commit({ "big.yaml": lines.join("\n"), [`f${index}`]: String(index) }, `b${index}`),
      );
    }
    await repository.git("repack", "-adfq", "--depth=50", "--window=50");
    const server = await serve(isOld);
    await using objects = await connect(server.url).fetch(commits, {}, never);
    const last = await filesOf(objects, commits.at(-1) ?? "");
    expect(last["big.yaml"]).toBe(lines.join("\n"));
    expect(server.seen.at(-1)?.headers["content-encoding"]).toBe("gzip");
  });

  test("with SHA-256 is refused by name", async () => {
    await using other = await gitRepository("--object-format=sha256");
    await other.commit(content);
    await using server = await gitServer(other, { isOld });
    const message = expect.stringContaining("object-format=sha256");
    await expect(connect(server.url).list([], never)).rejects.toMatchObject({ reason: "unsupported", message });
  });

  test("has no repository at another address", async () => {
    const { url } = await serve(isOld);
    await expect(connect(`${url}x`).list([], never)).rejects.toMatchObject({ reason: "not-found" });
  });
});

describe.skipIf(gitPrograms === undefined)("a known git server", () => {
  test("costs one request per listing, and is greeted again if it changes", async () => {
    const commit = await repository.commit(content);
    const known = new Map<string, Greeting>();
    let isOld = false;
    const server = await serve(false, {
      before: (request, _response, next) => {
        if (isOld) delete request.headers["git-protocol"];
        next();
      },
    });
    const list = () => connect(server.url, known).list(["refs/heads/"], never);
    await list();
    expect(server.seen.map(({ method }) => method)).toEqual(["GET", "POST"]);
    server.seen.length = 0;
    expect(await list()).toEqual([{ name: "refs/heads/main", oid: commit }]);
    expect(server.seen.map(({ method }) => method)).toEqual(["POST"]);
    isOld = true;
    server.seen.length = 0;
    expect(await list()).toEqual([{ name: "refs/heads/main", oid: commit }]);
    expect(server.seen.map(({ method }) => method)).toEqual(["POST", "GET"]);
    expect(known.size).toBe(0);
  });

  test("is cached separately per login, CA and proxy", async () => {
    await repository.commit(content);
    const known = new Map<string, Greeting>();
    const server = await serve(false);
    const list = async (options: Partial<HttpTransportOptions>) => {
      server.seen.length = 0;
      await connect(server.url, known, options).list(["refs/heads/"], never);
      return server.seen.map(({ method }) => method);
    };
    const proxy = { url: new URL(new URL(server.url).origin) };
    for (const options of [
      {},
      { headers: { authorization: "Basic YTpi" } },
      { tls: { ca: await pem("server.crt") } },
      { proxy },
      { proxy: { ...proxy, username: "jane", password: new Secret("a") } },
      { proxy: { ...proxy, username: "jane", password: new Secret("b") } },
    ]) {
      expect(await list(options)).toEqual(["GET", "POST"]);
      expect(await list(options)).toEqual(["POST"]);
    }
    expect([...known.keys()].join()).not.toMatch(/YTpi|jane/);
  });

  test("is forgotten after any failure", async () => {
    const commit = await repository.commit(content);
    const known = new Map<string, Greeting>();
    const { url } = await serve(false);
    await connect(url, known).list([], never);
    expect(known.size).toBe(1);
    const limits = { ...defaultGitLimits, maxPackBytes: 1 };
    const http = httpClient({ network: homeNetwork });
    opened.defer(() => http.close());
    const small = opened.use(openGitRemote(httpTransport({ url }, http), limits, known));
    await expect(small.fetch([commit], {}, never)).rejects.toMatchObject({ reason: "too-large" });
    expect(known.size).toBe(0);
  });
});
