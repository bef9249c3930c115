import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSshKey } from "../../../../lib/sources/git/ssh-key.ts";

const fixture = (name: string) => readFile(join(import.meta.dirname, "../../../fixtures/ssh", name), "utf8");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const ed = generateKeyPairSync("ed25519").privateKey;
const cipher = { cipher: "aes-128-cbc", passphrase: "secret" } as const;
const pem = { format: "pem" } as const;

test.each([
  ["OpenSSH", "ssh-ed25519", await fixture("plain")],
  ["OpenSSH, after an empty line", "ssh-rsa", `\n${await fixture("plain-rsa")}`],
  ["OpenSSH", "ecdsa-sha2-nistp256", await fixture("plain-ecdsa")],
  ["PKCS#1", "ssh-rsa", rsa.export({ type: "pkcs1", ...pem }).toString()],
  ["PKCS#8", "ssh-rsa", rsa.export({ type: "pkcs8", ...pem }).toString()],
  ["SEC1", "ecdsa-sha2-nistp256", ec.export({ type: "sec1", ...pem }).toString()],
  ["PKCS#8", "ecdsa-sha2-nistp256", ec.export({ type: "pkcs8", ...pem }).toString()],
  ["PKCS#8", "ssh-ed25519", ed.export({ type: "pkcs8", ...pem }).toString()],
])("a key without passphrase is read: %s, %s", async (_format, type, text) => {
  const key = await parseSshKey(text, "");
  expect([key.type, key.verify("hello", key.sign("hello"))]).toEqual([type, true]);
  // Go reads such a key whatever the Secret says.
  expect((await parseSshKey(text, "unused")).type).toBe(type);
});

const encrypted: readonly (readonly [string, string])[] = [
  ["OpenSSH", await fixture("encrypted")],
  ["PKCS#1", rsa.export({ type: "pkcs1", ...pem, ...cipher }).toString()],
  ["SEC1", ec.export({ type: "sec1", ...pem, ...cipher }).toString()],
  ["PKCS#8", ed.export({ type: "pkcs8", ...pem, ...cipher }).toString()],
];

test.each(encrypted)("an encrypted key is read with its passphrase: %s", async (_format, text) => {
  const key = await parseSshKey(text, "secret");
  expect(key.verify("hello", key.sign("hello"))).toBe(true);
});

test.each(encrypted)("a wrong passphrase is told in Go's words: %s", async (_format, text) => {
  await expect(parseSshKey(text, "wrong")).rejects.toThrow(/^x509: decryption password incorrect$/);
});

test.each(encrypted)("a missing passphrase is told apart: %s", async (_format, text) => {
  await expect(parseSshKey(text, "")).rejects.toMatchObject({
    name: "PassphraseMissing",
    message: "ssh: this private key is passphrase protected",
  });
});

test.each([
  ["", "ssh: no key found"],
  ["hunter2", "ssh: no key found"],
  ["-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n", 'ssh: unsupported key type "CERTIFICATE"'],
  ["-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n", "asn1: structure error"],
  [
    "-----BEGIN OPENSSH PRIVATE KEY-----\naGVsbG8=\n-----END OPENSSH PRIVATE KEY-----\n",
    "ssh: the private key is damaged, or of a kind that is not supported",
  ],
  [
    generateKeyPairSync("x25519")
      .privateKey.export({ type: "pkcs8", ...pem })
      .toString(),
    'ssh: unsupported key type "x25519"',
  ],
])("what is no key is refused without quoting it: %s", async (text, message) => {
  const fault = await parseSshKey(text, "secret").catch((error: unknown) => String(error));
  expect(fault).toBe(`Error: ${message}`);
});

test("a key that takes minutes to decrypt is refused before the first round", async () => {
  const text = await fixture("encrypted");
  const bytes = Buffer.from(text.replace(/-----[^-]+-----/g, ""), "base64");
  // The rounds are the last four bytes of the options, which follow the 16 bytes of salt.
  const at = bytes.indexOf("bcrypt") + "bcrypt".length + 4 + 4 + 16;
  expect(bytes.readUInt32BE(at)).toBe(16);
  bytes.writeUInt32BE(4_000_000_000, at);
  const slow = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`;
  await expect(parseSshKey(slow, "secret")).rejects.toThrow(
    "ssh: decrypting the private key takes 4000000000 rounds of bcrypt, and at most 200 are supported: encrypt it anew with ssh-keygen -p -a 100",
  );
});
