import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh from "ssh2";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commitSigner, type SigningOptions } from "../../../../cli/bootstrap/commit-signer.ts";

const { signal } = new AbortController();
const now = Date.parse("2026-11-29T12:00:00Z");
let folder: string;
const file = (name: string): string => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-commit-signer-"));
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(file("plain"), privateKey.export({ type: "pkcs8", format: "pem" }));
  // Not of ed25519: ssh2 damages one in 250 that it makes.
  const locked = ssh.utils.generateKeyPairSync("ecdsa", {
    bits: 256,
    passphrase: "open",
    cipher: "aes256-ctr",
    rounds: 16,
  });
  await writeFile(file("locked"), locked.private);
  await writeFile(file("damaged"), "no key\n");
});
afterAll(() => rm(folder, { recursive: true }));

const commit = Buffer.from(`tree ${"0".repeat(40)}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nchange\n`);

test("without an option a commit is not signed", async () => {
  expect(await commitSigner({}, now, signal)).toBe(undefined);
});

test.each<[string, () => SigningOptions]>([
  ["a key of --ssh-signing-key-file", () => ({ sshSigningKeyFile: file("plain") })],
  ["one with a passphrase", () => ({ sshSigningKeyFile: file("locked"), sshSigningPassword: "open" })],
  ["the key that logs in", () => ({ sshSigningReusePrivateKey: true, privateKeyFile: file("plain"), password: "" })],
])("a commit is signed by %s", async (_what, options) => {
  const sign = await commitSigner(options(), now, signal);
  expect(await sign?.(commit, signal)).toMatch(/^-----BEGIN SSH SIGNATURE-----\n/);
});

test.each<[string, () => SigningOptions]>([
  [
    "--gpg-key-ring and --ssh-signing-* are mutually exclusive; pick one signing format",
    () => ({ gpgKeyRing: "a", sshSigningKeyFile: "b" }),
  ],
  [
    "--ssh-signing-key-file and --ssh-signing-reuse-private-key are mutually exclusive",
    () => ({ sshSigningKeyFile: "b", sshSigningReusePrivateKey: true }),
  ],
  ["--ssh-signing-reuse-private-key requires --private-key-file", () => ({ sshSigningReusePrivateKey: true })],
  ["--ssh-signing-password requires --ssh-signing-key-file", () => ({ sshSigningPassword: "x" })],
  ["--gpg-passphrase requires --gpg-key-ring", () => ({ gpgPassphrase: "x" })],
  [
    "the file of --gpg-key-ring cannot be read: ENOENT: no such file or directory, open '/nonexistent/key'",
    () => ({ gpgKeyRing: "/nonexistent/key" }),
  ],
  [
    "the key of --ssh-signing-key-file is protected by a passphrase: give it by --ssh-signing-password",
    () => ({ sshSigningKeyFile: file("locked") }),
  ],
  [
    "the key of --ssh-signing-key-file cannot sign: could not parse SSH signing key from file",
    () => ({ sshSigningKeyFile: file("damaged") }),
  ],
  [
    "the key of --gpg-key-ring cannot sign: could not read signing key from file",
    () => ({ gpgKeyRing: file("damaged") }),
  ],
])("%s", async (text, options) => {
  await expect(commitSigner(options(), now, signal)).rejects.toThrow(text);
});
