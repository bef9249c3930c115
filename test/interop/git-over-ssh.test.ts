import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { dialer } from "../../lib/http/dial.ts";
import { defaultGitLimits } from "../../lib/sources/git/git-remote.ts";
import { knownHostKeys } from "../../lib/sources/git/known-hosts.ts";
import { openGitRemote } from "../../lib/sources/git/open-git-remote.ts";
import { parseSshKey } from "../../lib/sources/git/ssh-key.ts";
import { sshTransport } from "../../lib/sources/git/ssh-transport.ts";
import { openGitClone } from "../../lib/sources/git/write/open-git-clone.ts";
import { findSshd, realSshd, type SshdOptions } from "../doubles/real-sshd.ts";

const run = promisify(execFile);
const program = await findSshd();
const never = new AbortController().signal;
const bothVersions: readonly (readonly [string, readonly string[]])[] = [
  ["version 2, which sshd has to let through", ["AcceptEnv GIT_PROTOCOL"]],
  ["version 0, where sshd does not", []],
];

describe.skipIf(program === undefined)("git over ssh with OpenSSH's server", () => {
  let folder: string;
  let commit: string;
  const keyFile = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-git-ssh-"));
    const work = join(folder, "work");
    const git = (...args: readonly string[]) =>
      run("git", ["-c", "user.name=Jane", "-c", "user.email=jane@example.com", "-C", work, ...args]);
    await run("git", ["init", "-q", "-b", "main", work]);
    await writeFile(join(work, "a.yaml"), "kind: ConfigMap\n");
    await git("add", ".");
    await git("commit", "-q", "-m", "Add a");
    commit = (await git("rev-parse", "HEAD")).stdout.trim();
    await run("git", ["clone", "-q", "--bare", work, join(folder, "it's an app.git")]);
    const keys = [
      ["ed25519", "secret"],
      ["rsa", "secret"],
      ["ecdsa", ""],
    ] as const;
    for (const [type, passphrase] of keys) {
      await run("ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-f", keyFile(type)]);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function connect(
    options: Partial<SshdOptions> = {},
    type = "ed25519",
    known?: (lines: readonly string[]) => string,
    repository = "it's an app.git",
  ) {
    if (program === undefined) throw new Error("there is no sshd");
    const authorizedKeys = await readFile(`${keyFile(type)}.pub`, "utf8");
    const sshd = await realSshd(program, { hostKeys: ["ed25519"], authorizedKeys, ...options });
    const key = await parseSshKey(await readFile(keyFile(type), "utf8"), "secret");
    const text = known?.(sshd.knownHosts) ?? sshd.knownHosts.join("");
    const url = new URL(`ssh://${sshd.user}@127.0.0.1:${sshd.port}${folder}/${repository}`);
    const hostKeys = knownHostKeys(text, { host: "127.0.0.1", port: sshd.port });
    const dial = dialer({ network: homeNetwork });
    const remote = openGitRemote(sshTransport({ url, key, hostKeys }, dial));
    const receive = sshTransport({ url, key, hostKeys, service: "git-receive-pack" }, dial);
    return {
      sshd,
      remote,
      receive,
      async [Symbol.asyncDispose]() {
        await receive[Symbol.asyncDispose]();
        await remote[Symbol.asyncDispose]();
        await sshd[Symbol.asyncDispose]();
      },
    };
  }

  test.each(bothVersions)("lists and fetches by %s", async (_version, settings) => {
    await using both = await connect({ settings });
    const refs = await both.remote.list(["HEAD", "refs/heads/"], never);
    expect(refs.map(({ name, oid }) => [name, oid])).toEqual([
      ["HEAD", commit],
      ["refs/heads/main", commit],
    ]);
    await using objects = await both.remote.fetch([commit], {}, never);
    const { type, bytes } = await objects.read(commit);
    expect([type, Buffer.from(bytes).toString()]).toEqual(["commit", expect.stringContaining("Add a")]);
  });

  test.each(["ed25519", "rsa", "ecdsa"])("logs in with a key of type %s, as ssh-keygen writes it", async (type) => {
    await using both = await connect({}, type);
    expect(await both.remote.list(["refs/heads/main"], never)).toHaveLength(1);
  });

  test.each(["ed25519", "rsa", "ecdsa"] as const)("checks a host key of type %s among several", async (type) => {
    const only = (lines: readonly string[]) => lines.find((line) => line.includes(type)) ?? "";
    await using both = await connect({ hostKeys: ["rsa", "ecdsa", "ed25519"] }, "ed25519", only);
    expect(await both.remote.list(["refs/heads/main"], never)).toHaveLength(1);
  });

  test.each(bothVersions)(
    "pushes by %s, and reports a branch that has moved and a hook that declines",
    async (_version, settings) => {
      const repository = join(folder, "pushed.git");
      await run("git", ["clone", "-q", "--bare", join(folder, "work"), repository]);
      const git = async (...args: readonly string[]) => (await run("git", ["-C", repository, ...args])).stdout.trim();
      await using both = await connect({ settings }, "ed25519", undefined, "pushed.git");
      const listed = await both.remote.list(["refs/heads/"], never);
      const opening = { checkout: commit, listed };
      await using clone = await openGitClone({ ...both, limits: defaultGitLimits }, opening, never);
      await using late = await openGitClone({ ...both, limits: defaultGitLimits }, opening, never);
      const author = { name: "Flux", email: "flux@example.com", at: 1_700_000_000_000 };
      const content = Buffer.from("kind: Secret\n");
      for (const one of [clone, late]) {
        await one.commit({ files: new Map([["b/c.yaml", content]]), message: "Add c\n", author }, never);
      }
      const refs = [{ ref: "refs/heads/main", force: false }];
      const options = { options: [] };
      await clone.push(refs, options, never);
      expect(await git("log", "--format=%H %P", "-1", "main")).toBe(`${clone.head} ${commit}`);
      expect(await git("fsck", "--strict", "--no-dangling")).toBe("");
      await late.commit({ files: new Map([["d.yaml", content]]), message: "Add d\n", author }, never);
      await expect(late.push(refs, options, never)).rejects.toMatchObject({
        reason: "moved",
        message: "non-fast-forward update: refs/heads/main",
      });
      // The same connection serves the next push.
      await clone.commit({ files: new Map([["d.yaml", content]]), message: "Add d\n", author }, never);
      await writeFile(join(repository, "hooks/pre-receive"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
      await expect(clone.push(refs, options, never)).rejects.toMatchObject({
        reason: "refused",
        message: "command error on refs/heads/main: pre-receive hook declined",
      });
      await rm(join(repository, "hooks/pre-receive"));
      await clone.push(refs, options, never);
      expect(await git("rev-parse", "main")).toBe(clone.head);
      await rm(repository, { recursive: true });
    },
  );

  test("accepts a host name that ssh-keygen has hashed", async () => {
    const hash = join(folder, "hashed");
    await using first = await connect();
    await writeFile(hash, first.sshd.knownHosts.join(""));
    await run("ssh-keygen", ["-q", "-H", "-f", hash]);
    const keys = knownHostKeys(await readFile(hash, "utf8"), { host: "127.0.0.1", port: first.sshd.port });
    const [, , blob = ""] = first.sshd.knownHosts[0]?.split(" ") ?? [];
    expect([keys.types, keys.fault(Buffer.from(blob, "base64"))]).toEqual([["ssh-ed25519"], undefined]);
  });

  test("refuses a host whose key has changed", async () => {
    await using other = await connect();
    const known = other.sshd.knownHosts[0]?.split(" ").slice(1).join(" ") ?? "";
    await using both = await connect({}, "ed25519", (lines) => `${lines[0]?.split(" ")[0]} ${known}`);
    await expect(both.remote.list(["HEAD"], never)).rejects.toMatchObject({
      reason: "host-key",
      message: "ssh: handshake failed: knownhosts: key mismatch",
    });
  });

  test("reports a key that sshd does not know, and a missing repository", async () => {
    await using stranger = await connect({ authorizedKeys: await readFile(`${keyFile("rsa")}.pub`, "utf8") });
    await expect(stranger.remote.list(["HEAD"], never)).rejects.toMatchObject({ reason: "authentication" });
    await rm(join(folder, "it's an app.git"), { recursive: true });
    await using gone = await connect();
    await expect(gone.remote.list(["HEAD"], never)).rejects.toMatchObject({ reason: "not-found" });
  });
});
