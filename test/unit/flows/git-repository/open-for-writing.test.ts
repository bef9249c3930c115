import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { homeNetwork } from "../../../../lib/core/network/network-policy.ts";
import { Secret } from "../../../../lib/core/secret.ts";
import { writableRepositoryOpener } from "../../../../lib/flows/git-repository/open-repository.ts";
import { dialer } from "../../../../lib/http/dial.ts";
import { httpClient } from "../../../../lib/http/http-client.ts";
import { openGitClone } from "../../../../lib/sources/git/write/open-git-clone.ts";
import { never } from "../../../contract/state-back-end.ts";
import { gitPrograms, gitRepository, gitServer } from "../../../doubles/git-server.ts";
import { secretContext } from "./secret-context.ts";

const author = { name: "Flux", email: "flux@example.com", at: 0 };

describe.skipIf(gitPrograms === undefined)("a GitRepository that is opened for writing", () => {
  let opened: AsyncDisposableStack;
  beforeEach(() => {
    opened = new AsyncDisposableStack();
  });
  afterEach(() => opened.disposeAsync());

  async function open(
    url: string,
    spec: Parameters<ReturnType<typeof writableRepositoryOpener>>[1],
    secrets: Parameters<typeof secretContext>[0],
  ) {
    const http = httpClient({ network: homeNetwork });
    opened.defer(() => http.close());
    const logins = { github: async () => new Secret("ghs_token"), aws: undefined };
    const openForWriting = writableRepositoryOpener({
      http,
      dial: dialer({ network: homeNetwork }),
      logins,
      sshAlgorithms: {},
    });
    const { run, ...ctx } = secretContext(secrets);
    const key = { cluster: "c", group: "", kind: "ImageUpdateAutomation", namespace: "apps", name: "images" };
    return opened.use(await openForWriting(url, spec, { ...ctx, run: { ...run, key } }));
  }

  test("is read and pushed to with the login of its Secret", async () => {
    const repository = opened.use(await gitRepository());
    await repository.git("config", "http.receivepack", "true");
    await repository.commit({ "a.yaml": "a\n" });
    const wanted = `Basic ${Buffer.from("jane:hunter2").toString("base64")}`;
    const server = opened.use(
      await gitServer(repository, {
        before: (request, response, next) =>
          request.headers.authorization === wanted ? next() : void response.writeHead(401).end(),
      }),
    );
    const login = { username: "jane", password: "hunter2" };
    const writable = await open(server.url, { secretRef: { name: "login" }, timeout: "20s" }, { login });
    const listed = await writable.remote.list(["refs/heads/"], never);
    await using clone = await openGitClone(writable, { checkout: listed[0]?.oid, listed }, never);
    const oid = await clone.commit({ files: new Map([["a.yaml", Buffer.from("b\n")]]), message: "b\n", author }, never);
    await clone.push([{ ref: "refs/heads/main", force: false }], { options: [] }, never);
    expect(await repository.git("rev-parse", "main")).toBe(oid);
    expect(server.seen.map(({ path }) => path.replace("/repository.git/", ""))).toEqual([
      "info/refs?service=git-upload-pack",
      "git-upload-pack",
      "git-upload-pack",
      "info/refs?service=git-receive-pack",
      "git-receive-pack",
    ]);
    expect(writable.limits.timeoutMs).toBe(20_000);
  });

  test("reports a login that the server rejects", async () => {
    const repository = opened.use(await gitRepository());
    const server = opened.use(
      await gitServer(repository, { before: (_request, response) => void response.writeHead(401).end("hunter2") }),
    );
    const login = { username: "jane", password: "hunter2" };
    const writable = await open(server.url, { secretRef: { name: "login" }, timeout: "20s" }, { login });
    await using clone = await openGitClone(writable, { checkout: undefined, listed: [] }, never);
    await clone.commit({ files: new Map([["a", Buffer.from("a")]]), message: "a\n", author }, never);
    await expect(clone.push([{ ref: "refs/heads/main", force: false }], { options: [] }, never)).rejects.toMatchObject({
      reason: "authentication",
      message: `${server.url}/info/refs: authentication required (status code 401)`,
    });
  });
});
