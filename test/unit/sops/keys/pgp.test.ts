import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { maxKeys, maxMessageChars, maxPlainBytes, pgpKeySource, readPgpKeys } from "../../../../lib/sops/keys/pgp.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { never } from "../../../contract/state-back-end.ts";

const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/sops-keys/pgp/${name}`, import.meta.url), "utf8");
const dataKey = "the data key of sops, 32 bytes..";

async function open(keys: string, message: string): Promise<string> {
  const source = pgpKeySource(await readPgpKeys(keys));
  const opened = await source.open({ kind: "pgp", fingerprint: "ABCD", enc: message }, never);
  return Buffer.from(opened ?? []).toString();
}

describe("a private key of gpg opens a message", () => {
  test.each([
    { name: "on curve 25519", key: "curve25519.asc", message: "curve25519.message" },
    { name: "of RSA", key: "rsa.asc", message: "rsa.message" },
    { name: "that is expired", key: "expired.asc", message: "expired.message" },
    { name: "of which only the subkeys were exported", key: "subkeys.asc", message: "rsa.message" },
    { name: "that hides its recipients", key: "rsa.asc", message: "hidden.message" },
    { name: "for several recipients, by the first", key: "rsa.asc", message: "several.message" },
    { name: "for several recipients, by another", key: "curve25519.asc", message: "several.message" },
  ])("$name", async ({ key, message }) => {
    expect(await open(fixture(key), fixture(message))).toBe(dataKey);
  });

  test("among several keys in one entry, beside public keys and text", async () => {
    const keys = ["public.asc", "expired.asc", "rsa.asc", "locked.asc"].map(fixture).join("\nnotes\n");
    expect(await open(keys, fixture("hidden.message"))).toBe(dataKey);
  });
});

describe("a message that stays closed says why", () => {
  test.each([
    {
      name: "no key",
      keys: "rsa.asc",
      message: fixture("stranger.message"),
      says: 'could not decrypt data key with PGP key: no private key for "ABCD"',
    },
    {
      name: "a passphrase",
      keys: "locked.asc",
      message: fixture("locked.message"),
      says: /^could not decrypt data key with PGP key: private key [0-9A-F]{16} has a passphrase: store it without one$/,
    },
    {
      name: "text that is no message",
      keys: "rsa.asc",
      message: "not armored",
      says: "could not decrypt data key with PGP key: it is not an armored PGP message",
    },
    {
      name: "a message without end",
      keys: "rsa.asc",
      message: "A".repeat(maxMessageChars + 1),
      says: "could not decrypt data key with PGP key: the PGP message has more than 65536 characters",
    },
  ])("$name", async ({ keys, message, says }) => {
    const fault = await open(fixture(keys), message).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SopsFault);
    expect(fault).toHaveProperty("message", expect.stringMatching(says));
    // The library's own error may quote what it has read.
    expect(fault).not.toHaveProperty("cause");
  });

  test("bytes that were changed on the way", async () => {
    const { armor, enums } = await import("openpgp");
    const [, body = ""] = /\n\n([^=]+=*)\n=/.exec(fixture("curve25519.message")) ?? [];
    const bytes = Buffer.from(body, "base64");
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const changed = armor(enums.armor.message, bytes);
    await expect(open(fixture("curve25519.asc"), changed)).rejects.toThrow(
      /^could not decrypt data key with PGP key: private key [0-9A-F]{16} does not open the message$/,
    );
  });

  test("a message that unpacks to more than a data key can be", async () => {
    const openpgp = await import("openpgp");
    const [key] = await readPgpKeys(fixture("curve25519.asc"));
    if (key === undefined) throw new Error("the fixture holds no key");
    const bomb: unknown = await openpgp.encrypt({
      message: await openpgp.createMessage({ binary: new Uint8Array(maxPlainBytes * 50) }),
      encryptionKeys: key.toPublic(),
      config: { preferredCompressionAlgorithm: openpgp.enums.compression.zlib },
    });
    if (typeof bomb !== "string") throw new Error("the library armors what it encrypts");
    expect(bomb.length).toBeLessThan(65_536);
    await expect(open(fixture("curve25519.asc"), bomb)).rejects.toThrow("does not open the message");
  });
});

describe("an entry of keys that cannot be read is refused without a word of it", () => {
  test.each([
    { name: "no block", text: "hello", says: "no valid OpenPGP data found" },
    { name: "another block", text: fixture("rsa.message"), says: "a block is neither a private nor a public key" },
    {
      name: "a block that broke off",
      text: fixture("rsa.asc").slice(0, 900),
      says: "a private key block is damaged or of a kind that is not supported",
    },
  ])("$name", async ({ text, says }) => {
    await expect(readPgpKeys(text)).rejects.toThrow(
      new SopsFault(`failed to import armored key data into GnuPG keyring: ${says}`),
    );
  });

  test("more keys than a run should try", async () => {
    const many = fixture("curve25519.asc").repeat(maxKeys + 1);
    await expect(readPgpKeys(many)).rejects.toThrow("there are more than 100 keys");
  });
});

test("recipients of other kinds are left to others", async () => {
  const source = pgpKeySource(await readPgpKeys(fixture("rsa.asc")));
  expect(await source.open({ kind: "age", recipient: "age1", enc: "" }, never)).toBeUndefined();
});
