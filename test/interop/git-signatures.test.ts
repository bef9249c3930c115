import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signedCommit, signedTag } from "../../lib/sources/git/verify/signed-object.ts";
import { verifySignature } from "../../lib/sources/git/verify/verify-signature.ts";
import { hardwareSigner, sshSignature } from "../unit/sources/git/verify/ssh-signer.ts";

const run = promisify(execFile);
const lacks = ["git", "gpg", "ssh-keygen"].filter((tool) => !isOnPath(tool));
const missing = lacks.length === 0 ? "" : ` (skipped: this machine has no ${lacks.join(", ")})`;

function isOnPath(tool: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const now = Date.now();
const dayMs = 24 * 60 * 60 * 1000;

describe.skipIf(lacks.length > 0)(`commits and tags signed by the system's git, gpg and ssh-keygen${missing}`, () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  const noMatch = "unable to verify payload with any of the given key rings: no matching key";

  beforeAll(async () => {
    // The path of gpg-agent's socket must be short.
    folder = await mkdtemp(join(tmpdir(), "gv-"));
    env = {
      PATH: process.env["PATH"],
      HOME: folder,
      GNUPGHOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@example.com",
    };
    await run("git", ["init", "-q", "-b", "main", join(folder, "repository")], { env });
  });
  afterAll(async () => {
    await run("gpgconf", ["--kill", "all"], { env }).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  function git(...args: readonly string[]): Promise<{ stdout: Buffer }> {
    return run("git", args, { cwd: join(folder, "repository"), env, encoding: "buffer" });
  }

  function gpg(...args: readonly string[]): Promise<{ stdout: string }> {
    return run("gpg", ["--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", ...args], { env });
  }

  /** Makes a key that signs, and answers its long id in upper case. */
  async function pgpKey(algorithm: string, name: string, ...options: readonly string[]): Promise<string> {
    await gpg(...options, "--quick-generate-key", `${name} <${name}@example.com>`, algorithm, "sign", "never");
    const { stdout } = await gpg("--with-colons", "--list-keys", name);
    return (
      stdout
        .split("\n")
        .find((line) => line.startsWith("pub:"))
        ?.split(":")[4] ?? ""
    );
  }

  async function ring(...names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map([["keys.asc", (await gpg("--armor", "--export", ...names)).stdout]]);
  }

  async function commit(...config: readonly string[]): Promise<Buffer> {
    const settings = config.flatMap((one) => ["-c", one]);
    await git(...settings, "commit", "-q", "--allow-empty", "-S", "-m", "grüße\n\ngpgsig in the message");
    return (await git("cat-file", "commit", "HEAD")).stdout;
  }

  async function tag(...config: readonly string[]): Promise<Buffer> {
    const settings = config.flatMap((one) => ["-c", one]);
    await git(...settings, "tag", "-f", "-s", "-m", "version 1", "v1");
    return (await git("cat-file", "tag", "v1")).stdout;
  }

  test.each(["rsa3072", "rsa4096", "ed25519", "nistp256", "nistp384", "nistp521"])(
    "are verified with a PGP key of %s, and a changed one is not",
    async (algorithm) => {
      const id = await pgpKey(algorithm, `by-${algorithm.toLowerCase()}`);
      const keys = await ring(id);
      for (const object of [
        signedCommit(await commit(`user.signingkey=${id}`)),
        signedTag(await tag(`user.signingkey=${id}`)),
      ]) {
        expect(await verifySignature(object, keys, now)).toEqual({ keyId: id });
        const payload = Buffer.from(object.payload);
        payload[payload.length - 2] = 0x21;
        await expect(verifySignature({ ...object, payload }, keys, now)).rejects.toThrow(noMatch);
      }
    },
  );

  test("on a Brainpool curve are refused by name", async () => {
    const id = await pgpKey("brainpoolP256r1", "brainpool");
    await expect(
      verifySignature(signedCommit(await commit(`user.signingkey=${id}`)), await ring(id), now),
    ).rejects.toThrow("unable to verify Git commit: signatures on the curves of Brainpool are not supported");
  });

  test("are verified with a subkey of one of several keys in a ring, and show the id of its primary key", async () => {
    const id = await pgpKey("ed25519", "with-subkey");
    const { stdout } = await gpg("--with-colons", "--list-keys", id);
    const whole =
      stdout
        .split("\n")
        .find((line) => line.startsWith("fpr:"))
        ?.split(":")[9] ?? "";
    await gpg("--quick-add-key", whole, "rsa3072", "sign", "never");
    const listed = (await gpg("--with-colons", "--list-keys", id)).stdout.split("\n");
    const subkey = listed.find((line) => line.startsWith("sub:"))?.split(":")[4] ?? "";
    const object = signedCommit(await commit(`user.signingkey=${subkey}!`));
    await pgpKey("ed25519", "other");
    expect(subkey).not.toBe(id);
    expect(await verifySignature(object, await ring("other", id), now)).toEqual({ keyId: id });
    await expect(verifySignature(object, await ring("other"), now)).rejects.toThrow(noMatch);
  });

  test("do not verify once the key has expired, until its expiry is extended", async () => {
    const past = ["--faked-system-time", `${Math.floor((now - 10 * dayMs) / 1000)}`];
    await gpg(...past, "--quick-generate-key", "expired <expired@example.com>", "ed25519", "sign", "5d");
    const { stdout } = await gpg("--with-colons", "--list-keys", "expired");
    const [id = "", whole = ""] = ["pub:", "fpr:"].map(
      (type, index) =>
        stdout
          .split("\n")
          .find((line) => line.startsWith(type))
          ?.split(":")[index === 0 ? 4 : 9],
    );
    const program = join(folder, "gpg-in-the-past");
    await writeFile(program, `#!/bin/sh\nexec gpg ${past.join(" ")} "$@"\n`, { mode: 0o755 });
    const object = signedCommit(await commit(`user.signingkey=${id}`, `gpg.program=${program}`));
    await expect(verifySignature(object, await ring(id), now)).rejects.toThrow(noMatch);
    expect(await verifySignature(object, await ring(id), now - 9 * dayMs)).toEqual({ keyId: id });
    await gpg("--quick-set-expire", whole, "1y");
    expect(await verifySignature(object, await ring(id), now + dayMs)).toEqual({ keyId: id });
  });

  test("do not verify once the key is revoked", async () => {
    const id = await pgpKey("ed25519", "revoked");
    const object = signedCommit(await commit(`user.signingkey=${id}`));
    expect(await verifySignature(object, await ring(id), now)).toEqual({ keyId: id });
    const { stdout } = await gpg("--with-colons", "--list-keys", id);
    const whole =
      stdout
        .split("\n")
        .find((line) => line.startsWith("fpr:"))
        ?.split(":")[9] ?? "";
    const file = join(folder, "openpgp-revocs.d", `${whole}.rev`);
    await writeFile(file, (await readFile(file, "utf8")).replace(":-----BEGIN", "-----BEGIN"));
    await gpg("--import", file);
    await expect(verifySignature(object, await ring(id), now)).rejects.toThrow(noMatch);
  });

  test.each([
    ["ed25519"],
    ["ecdsa", "-b", "256"],
    ["ecdsa", "-b", "384"],
    ["ecdsa", "-b", "521"],
    ["rsa", "-b", "3072"],
  ])("are verified with an SSH key: %s %s %s", async (...[type = "", ...size]) => {
    const file = join(folder, `id_${type}${size.at(-1) ?? ""}`);
    await run("ssh-keygen", ["-q", "-t", type, ...size, "-N", "", "-C", "a@example.com", "-f", file]);
    const line = await readFile(`${file}.pub`, "utf8");
    const fingerprint = (await run("ssh-keygen", ["-l", "-f", file])).stdout.split(" ")[1];
    const config = ["gpg.format=ssh", `user.signingkey=${file}`];
    for (const object of [signedCommit(await commit(...config)), signedTag(await tag(...config))]) {
      expect(await verifySignature(object, new Map([["a.sshpub", line]]), now)).toEqual({ keyId: fingerprint });
      const payload = Buffer.concat([object.payload, Buffer.from("\n")]);
      await expect(verifySignature({ ...object, payload }, new Map([["a.sshpub", line]]), now)).rejects.toThrow(
        "no matching key\nssh: signature did not verify",
      );
    }
  });

  test("do not verify if the key signed a file", async () => {
    const file = join(folder, "id_file");
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
    const keys = new Map([["a.sshpub", await readFile(`${file}.pub`, "utf8")]]);
    await writeFile(join(folder, "payload"), "tree 1\n");
    await run("ssh-keygen", ["-q", "-Y", "sign", "-n", "file", "-f", file, join(folder, "payload")]);
    const signature = await readFile(join(folder, "payload.sig"), "utf8");
    const object = { type: "commit", payload: Buffer.from("tree 1\n"), signature } as const;
    await expect(verifySignature(object, keys, now)).rejects.toThrow("no matching key\nnamespace does not match");
  });

  test.each(["ed25519", "ecdsa"] as const)(
    "by a security key (sk-%s) are verified by ssh-keygen and by Sluice",
    async (kind) => {
      const payload = "tree 1\n\nhello\n";
      const verdict = async (flags: number, bytes: string): Promise<readonly boolean[]> => {
        const signer = hardwareSigner(kind, flags);
        const signature = sshSignature(signer, payload);
        await writeFile(join(folder, "sk.sig"), signature);
        await writeFile(join(folder, "allowed"), `a@example.com ${signer.line}\n`);
        const args = ["-Y", "verify", "-n", "git", "-I", "a@example.com", "-f", join(folder, "allowed")];
        const theirs = run("ssh-keygen", [...args, "-s", join(folder, "sk.sig")]);
        theirs.child.stdin?.end(bytes);
        const object = { type: "commit", payload: Buffer.from(bytes), signature } as const;
        const ours = verifySignature(object, new Map([["a.sshpub", signer.line]]), now);
        return Promise.all([theirs, ours].map((one) => one.then(() => true).catch(() => false)));
      };
      expect(await verdict(1, payload)).toEqual([true, true]);
      expect(await verdict(5, payload)).toEqual([true, true]);
      expect(await verdict(1, `${payload}x`)).toEqual([false, false]);
      // Flux asks for the touch (x/crypto), ssh-keygen leaves that to the line of the key.
      expect((await verdict(0, payload))[1]).toBe(false);
    },
  );
});
