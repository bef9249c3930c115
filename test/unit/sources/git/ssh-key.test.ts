import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { maxKeyChars, maxRsaBits, parseSshKey } from "../../../../lib/sources/git/ssh-key.ts";
import { rsaKeyOf } from "./rsa-key-of.ts";

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
])("a key without a passphrase is parsed: %s, %s", async (_format, type, text) => {
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

test.each(encrypted)("an encrypted key is parsed with its passphrase: %s", async (_format, text) => {
  const key = await parseSshKey(text, "secret");
  expect(key.verify("hello", key.sign("hello"))).toBe(true);
});

test.each(encrypted)("a wrong passphrase is reported with Go's text: %s", async (_format, text) => {
  await expect(parseSshKey(text, "wrong")).rejects.toThrow(/^x509: decryption password incorrect$/);
});

test.each(encrypted)("a missing passphrase is distinguished: %s", async (_format, text) => {
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
])("an invalid key is refused without quoting it: %s", async (text, message) => {
  const fault = await parseSshKey(text, "secret").catch((error: unknown) => String(error));
  expect(fault).toBe(`Error: ${message}`);
});

test("the decrypted bytes of a key are those in its PEM block: another PEM block inside them is ignored", async () => {
  const text = await fixture("encrypted");
  const [begin = "", ...lines] = text.trim().split("\n");
  // A reader that takes hyphens for letters would find other rounds than one that leaves them out.
  const twice = [begin, ...lines.slice(0, 2), "-----BEGIN OPENSSH PRIVATE KEY-----", ...lines.slice(2)].join("\n");
  await expect(parseSshKey(twice, "secret")).rejects.toThrow("the private key is damaged");
});

/** A key that OpenSSL would decrypt by so many iterations of PBKDF2. */
function ofIterations(iterations: number): string {
  const der = ed.export({ type: "pkcs8", format: "der", ...cipher });
  const usual = Buffer.from([0x02, 0x02, 0x08, 0x00]);
  const at = der.indexOf(usual);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(iterations);
  const changed = Buffer.concat([der.subarray(0, at), Buffer.from([0x02, 4]), count, der.subarray(at + usual.length)]);
  // The lengths of all that the number is in.
  const grown = (from: number): void => void changed.writeUInt8(changed.readUInt8(from) + 2, from);
  for (const from of sequencesAround(der, at)) grown(from);
  return `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${changed.toString("base64")}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
}

/** Where the lengths of the sequences stand that this place of a short DER text is in. */
function sequencesAround(der: Buffer, at: number): readonly number[] {
  return Array.from({ length: at }, (_, from) => from)
    .filter((from) => {
      const isLong = der[from + 1] === 0x81;
      const lengthAt = from + (isLong ? 2 : 1);
      const end = lengthAt + 1 + (der[lengthAt] ?? 0);
      return der[from] === 0x30 && end > at && end <= der.length && (der[lengthAt] ?? 0) > 9;
    })
    .map((from) => from + (der[from + 1] === 0x81 ? 2 : 1));
}

test("a PKCS#8 key may have as many iterations as the limit, and with one more is refused before the first", async () => {
  await expect(parseSshKey(ofIterations(100_000), "secret")).rejects.toThrow("x509: decryption password incorrect");
  for (const iterations of [100_001, 4_000_000_000]) {
    await expect(parseSshKey(ofIterations(iterations), "secret")).rejects.toThrow(
      "more than 100000 iterations of PBKDF2",
    );
  }
});

test("a PKCS#8 key with another encryption is refused, also if its salt looks like a number of iterations", async () => {
  const part = (tag: number, ...parts: readonly Buffer[]): Buffer => {
    const bytes = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  };
  const decoy = part(0x30, part(0x06, Buffer.from("2a864886f70d01050c", "hex")), part(0x02, Buffer.from([1])));
  const pbes1 = part(0x06, Buffer.from("2a864886f70d010c0103", "hex"));
  const der = part(
    0x30,
    part(0x30, pbes1, part(0x30, part(0x04, decoy), part(0x02, Buffer.alloc(4, 0x7f)))),
    part(0x04),
  );
  const text = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${der.toString("base64")}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
  await expect(parseSshKey(text, "secret")).rejects.toThrow("encrypted in a way that is not supported");
});

test("a key that would be slow to sign with is refused, by its length or its modulus", async () => {
  await expect(parseSshKey("x".repeat(maxKeyChars), "")).rejects.toThrow("ssh: no key found");
  await expect(parseSshKey("x".repeat(maxKeyChars + 1), "")).rejects.toThrow("has more than 16384 characters");
  expect((await parseSshKey(rsaKeyOf(maxRsaBits), "")).type).toBe("ssh-rsa");
  const long = rsaKeyOf(maxRsaBits + 8);
  await expect(parseSshKey(long, "")).rejects.toThrow("an RSA key of 8200 bits is too long, at most 8192");
});

test("a key that would take minutes to decrypt is refused before the first round", async () => {
  const text = await fixture("encrypted");
  const bytes = Buffer.from(text.replace(/-----[^-]+-----/g, ""), "base64");
  // The rounds are the last four bytes of the options, which follow the 16 bytes of salt.
  const at = bytes.indexOf("bcrypt") + "bcrypt".length + 4 + 4 + 16;
  expect(bytes.readUInt32BE(at)).toBe(16);
  bytes.writeUInt32BE(4_000_000_000, at);
  const slow = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`;
  await expect(parseSshKey(slow, "secret")).rejects.toThrow(
    "ssh: decrypting the private key takes 4000000000 rounds of bcrypt, and at most 200 are supported: encrypt it again with ssh-keygen -p -a 100",
  );
});

/** One round of bcrypt in place of those of `ssh-keygen`. The key does not open any more. */
async function quickKey(): Promise<string> {
  const [begin = "", ...rest] = (await fixture("encrypted")).trim().split("\n");
  const bytes = Buffer.from(rest.slice(0, -1).join(""), "base64");
  const rounds = bytes.indexOf("bcrypt") + "bcrypt".length + 2 * 4 + 16;
  bytes.writeUInt32BE(1, rounds);
  return [begin, bytes.toString("base64"), rest.at(-1)].join("\n");
}

test("encrypted keys are decrypted in turns per namespace: many keys of one namespace do not block another", async () => {
  const text = await quickKey();
  const read: string[] = [];
  const { signal } = new AbortController();
  const keyOf = async (namespace: string): Promise<void> => {
    await parseSshKey(text, "secret", { tenant: { cluster: "c", namespace }, signal }).catch(() =>
      read.push(namespace),
    );
  };
  await Promise.all([...Array.from({ length: 12 }, () => keyOf("many")), keyOf("one")]);
  expect(read).toHaveLength(13);
  expect(read.at(-1)).toBe("many");
});

test("an encrypted key is not awaited after its run has ended", async () => {
  const tenant = { cluster: "c", namespace: "apps" };
  const reading = parseSshKey(await fixture("encrypted"), "secret", {
    tenant,
    signal: AbortSignal.abort(new Error("over")),
  });
  await expect(reading).rejects.toThrow("over");
});
