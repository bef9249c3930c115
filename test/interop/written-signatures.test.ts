import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noTenant } from "../../lib/core/tenant.ts";
import { commitBytes } from "../../lib/sources/git/write/commit-bytes.ts";
import { readSigningKey } from "../../lib/sources/git/write/signing-key.ts";
import { never } from "../contract/state-back-end.ts";

const run = promisify(execFile);
const lacks = ["git", "gpg", "ssh-keygen"].filter((tool) => !isThere(tool));
const missing = lacks.length === 0 ? "" : ` (skipped: this machine has no ${lacks.join(", ")})`;

function isThere(tool: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${tool}`]);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(lacks.length > 0)(`image-automation/64: git verifies commits that Sluice signs${missing}`, () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    // The path of gpg-agent's socket must be short.
    folder = await mkdtemp(join(tmpdir(), "gw-"));
    env = { PATH: process.env["PATH"], HOME: folder, GNUPGHOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    await run("git", ["init", "-q", "-b", "main", join(folder, "repository")], { env });
  });
  afterAll(async () => {
    await run("gpgconf", ["--kill", "all"], { env }).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  async function git(input: Uint8Array | undefined, ...args: readonly string[]) {
    const running = run("git", args, { cwd: join(folder, "repository"), env });
    running.child.stdin?.end(input);
    const { stdout, stderr } = await running;
    return { stdout: stdout.trim(), stderr };
  }

  const gpg = (passphrase: string, ...args: readonly string[]) =>
    run("gpg", ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", passphrase, ...args], { env });

  /** The id of a commit that is signed with the key in a Secret. */
  async function signed(type: "gpg" | "ssh", data: Readonly<Record<string, string>>): Promise<string> {
    const reader = { tenant: noTenant, signal: never };
    const sign = await readSigningKey(type, { name: "key", data: new Map(Object.entries(data)) }, reader, Date.now());
    const tree = (await git(Buffer.alloc(0), "hash-object", "-t", "tree", "-w", "--stdin")).stdout;
    const author = { name: "Flux", email: "flux@example.com", at: Date.now() };
    const bytes = await commitBytes({ tree, parent: undefined, author, message: "Grüße\n\nbody\n", sign }, never);
    return (await git(bytes, "hash-object", "-t", "commit", "-w", "--stdin")).stdout;
  }

  test.each([
    ["ed25519", "", []],
    ["ed25519", "hunter2", []],
    ["ecdsa", "", ["-b", "256"]],
    ["ecdsa", "hunter2", ["-b", "384"]],
    ["ecdsa", "", ["-b", "521"]],
    ["rsa", "hunter2", ["-b", "3072"]],
    ["rsa", "", ["-b", "2048", "-m", "PEM"]],
  ])("with a key of ssh-keygen -t %s -N '%s'", async (type, passphrase, options) => {
    const file = join(folder, `${type}${passphrase}${options.join("")}`);
    await run("ssh-keygen", ["-q", "-t", type, "-N", passphrase, ...options, "-f", file]);
    const allowed = `${file}.allowed`;
    await writeFile(allowed, `flux@example.com ${await readFile(`${file}.pub`, "utf8")}`);
    const oid = await signed("ssh", { identity: await readFile(file, "utf8"), password: passphrase });
    const config = ["-c", "gpg.format=ssh", "-c", `gpg.ssh.allowedSignersFile=${allowed}`];
    const { stderr } = await git(undefined, ...config, "verify-commit", oid);
    expect(stderr).toContain('Good "git" signature for flux@example.com');
    expect((await git(undefined, "fsck", "--strict", "--no-dangling", oid)).stdout).toBe("");
  });

  test.each([
    ["rsa3072", ""],
    ["ed25519", "hunter2"],
    ["nistp384", ""],
  ])("with a key of gpg --quick-generate-key … %s, passphrase '%s'", async (algorithm, passphrase) => {
    const name = `by-${algorithm}`;
    await gpg(passphrase, "--quick-generate-key", `${name} <${name}@example.com>`, algorithm, "sign", "never");
    const secret = (await gpg(passphrase, "--armor", "--export-secret-keys", name)).stdout;
    const oid = await signed("gpg", { "git.asc": secret, ...(passphrase === "" ? {} : { passphrase }) });
    const { stderr } = await git(undefined, "verify-commit", oid);
    expect(stderr).toContain(`Good signature from "${name} <${name}@example.com>"`);
    expect((await git(undefined, "fsck", "--strict", "--no-dangling", oid)).stdout).toBe("");
  });

  test("with only a subkey, whose primary key was left out of the export", async () => {
    await gpg("", "--quick-generate-key", "sub <sub@example.com>", "ed25519", "cert", "never");
    const { stdout } = await gpg("", "--with-colons", "--list-keys", "sub@example.com");
    const fingerprint = /^fpr:+([0-9A-F]+):/m.exec(stdout)?.[1] ?? "";
    await gpg("", "--quick-add-key", fingerprint, "ed25519", "sign", "never");
    const secret = (await gpg("", "--armor", "--export-secret-subkeys", "sub@example.com")).stdout;
    const oid = await signed("gpg", { "git.asc": secret });
    expect((await git(undefined, "verify-commit", oid)).stderr).toContain(
      'Good signature from "sub <sub@example.com>"',
    );
  });
});
