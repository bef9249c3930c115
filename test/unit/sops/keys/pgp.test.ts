import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  maxKeyBits,
  maxKeys,
  maxMessageChars,
  maxPlainBytes,
  maxRecipientsOfKey,
  pgpKeySource,
  readPgpKeys,
} from "../../../../lib/sops/keys/pgp.ts";
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

describe("a private key of gpg decrypts a message", () => {
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

  test("among several keys in one entry, next to public keys and text", async () => {
    const keys = ["public.asc", "expired.asc", "rsa.asc", "locked.asc"].map(fixture).join("\nnotes\n");
    expect(await open(keys, fixture("hidden.message"))).toBe(dataKey);
  });
});

describe("a message that cannot be decrypted reports why", () => {
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
      name: "text that is not a message",
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

  test("bytes that were changed", async () => {
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

test("a message whose recipients may all be one key is tried up to the limit", async () => {
  const { armor, enums, unarmor } = await import("openpgp");
  const { data }: { readonly data: unknown } = await unarmor(fixture("hidden.message"));
  if (!(data instanceof Uint8Array)) throw new Error("the fixture is no message");
  // An old or a new header with a length of one or two octets: the first packet is the session key for one recipient.
  const end = packetEnd(Buffer.from(data));
  const first = Buffer.from(data.subarray(0, end));
  const withRecipients = (count: number): string =>
    armor(enums.armor.message, Buffer.concat([...Array.from({ length: count }, () => first), data.subarray(end)]));
  expect(await open(fixture("rsa.asc"), withRecipients(maxRecipientsOfKey))).toBe(dataKey);
  await expect(open(fixture("rsa.asc"), withRecipients(maxRecipientsOfKey + 1))).rejects.toThrow(
    `more than ${maxRecipientsOfKey} recipients of the message may be the same key`,
  );
});

/** Where the first packet of a message ends. */
function packetEnd(message: Buffer): number {
  const tag = message.readUInt8(0);
  if ((tag & 0x40) === 0) {
    const octets = 1 << (tag & 3);
    return 1 + octets + message.readUIntBE(1, octets);
  }
  const length = message.readUInt8(1);
  return length < 192 ? 2 + length : 3 + ((length - 192) << 8) + message.readUInt8(2) + 192;
}

test("an RSA key may have as many bits as the limit, and no more", async () => {
  const { armor, enums } = await import("openpgp");
  const number = (bits: number): Buffer => {
    const value = Buffer.alloc(Math.ceil(bits / 8), 255);
    value[0] = 0xff >> ((8 - (bits % 8)) % 8);
    return Buffer.concat([Buffer.from([bits >> 8, bits & 255]), value]);
  };
  /** A secret key that nothing but its form says to be one (RFC 9580, 5.5.3). */
  const keyOf = (bits: number): string => {
    const secret = Buffer.concat([number(64), number(32), number(32), number(32)]);
    const sum = secret.reduce((total, byte) => (total + byte) % 65_536, 0);
    const open = Buffer.concat([Buffer.from([4, 0, 0, 0, 1, enums.publicKey.rsaEncrypt]), number(bits), number(17)]);
    const body = Buffer.concat([open, Buffer.from([0]), secret, Buffer.from([sum >> 8, sum & 255])]);
    const head = Buffer.from([0x80 | (enums.packet.secretKey << 2) | 1, body.length >> 8, body.length & 255]);
    return armor(enums.armor.privateKey, Buffer.concat([head, body]));
  };
  expect(await readPgpKeys(keyOf(maxKeyBits))).toHaveLength(1);
  await expect(readPgpKeys(keyOf(maxKeyBits + 1))).rejects.toThrow(`a key has more than ${maxKeyBits} bits`);
});

describe("an entry of keys that cannot be parsed is refused without quoting it", () => {
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

test("recipients of other kinds are skipped", async () => {
  const source = pgpKeySource(await readPgpKeys(fixture("rsa.asc")));
  expect(await source.open({ kind: "age", recipient: "age1", enc: "" }, never)).toBeUndefined();
});
