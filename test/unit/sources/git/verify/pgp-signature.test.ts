import * as openpgp from "openpgp";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { maxSkewMs, verifyPgpSignature } from "../../../../../lib/sources/git/verify/pgp-signature.ts";
import { senselessDsa } from "./pgp-dsa.ts";

const payload = Buffer.from("tree 1\n\nhello\n");
const noMatch = "unable to verify payload with any of the given key rings: no matching key";
const now = Date.parse("2026-11-23T12:00:00Z");
const dayMs = 24 * 60 * 60 * 1000;

interface Signer {
  readonly privateKey: openpgp.PrivateKey;
  readonly ring: string;
  readonly id: string;
}

interface KeyOptions {
  readonly date?: Date;
  /** Seconds. */
  readonly keyExpirationTime?: number;
  readonly subkeys?: openpgp.SubkeyOptions[];
}

async function signer(options: KeyOptions = {}): Promise<Signer> {
  const date = new Date(now - 30 * dayMs);
  const made = { date, userIDs: { email: "a@example.com" }, format: "object", ...options } as const;
  const { privateKey } = await openpgp.generateKey(made);
  const publicKey = privateKey.toPublic();
  return { privateKey, ring: publicKey.armor(), id: publicKey.getKeyID().toHex().toUpperCase() };
}

interface SignOptions {
  readonly at?: number;
  readonly bytes?: Uint8Array;
  readonly others?: readonly Signer[];
}

async function sign(
  { privateKey }: Signer,
  { at = now - dayMs, bytes = payload, others = [] }: SignOptions = {},
): Promise<string> {
  const signingKeys = [privateKey, ...others.map((one) => one.privateKey)];
  const message = await openpgp.createMessage({ binary: bytes });
  const options = { message, signingKeys, detached: true, date: new Date(at), format: "object" } as const;
  return (await openpgp.sign(options)).armor();
}

function verify(signature: string, rings: readonly string[], bytes: Uint8Array = payload): Promise<string> {
  return verifyPgpSignature(bytes, signature, rings, now);
}

let alice: Signer;
let bob: Signer;
beforeAll(async () => {
  [alice, bob] = await Promise.all([signer(), signer()]);
});

describe("a PGP signature", () => {
  test("is verified by its key in any of the rings, and reports its primary key", async () => {
    const signature = await sign(alice);
    expect(await verify(signature, [alice.ring])).toBe(alice.id);
    expect(await verify(signature, ["nonsense", bob.ring, alice.ring])).toBe(alice.id);
    expect(await verify(signature, [`${bob.ring}\n# alice\n${alice.ring}`])).toBe(alice.id);
    expect(alice.id).toMatch(/^[0-9A-F]{16}$/);
  });

  test("by a subkey reports the primary key", async () => {
    const carol = await signer({ subkeys: [{ sign: true }] });
    expect(carol.privateKey.getSubkeys()).toHaveLength(1);
    const signature = await sign(carol);
    const made = await openpgp.readSignature({ armoredSignature: signature });
    expect(made.getSigningKeyIDs()[0]?.toHex().toUpperCase()).not.toBe(carol.id);
    expect(await verify(signature, [carol.ring])).toBe(carol.id);
  });

  test("does not verify other bytes", async () => {
    const signature = await sign(alice);
    await expect(verify(signature, [alice.ring], Buffer.from("tree 2\n\nhello\n"))).rejects.toThrow(noMatch);
    await expect(verify(signature, [alice.ring], payload.subarray(1))).rejects.toThrow(noMatch);
  });

  test("by an untrusted key does not verify", async () => {
    await expect(verify(await sign(bob), [alice.ring])).rejects.toThrow(noMatch);
    await expect(verify(await sign(bob), [])).rejects.toThrow(noMatch);
  });

  test("by several keys verifies if one of them is trusted", async () => {
    expect(await verify(await sign(alice, { others: [bob] }), [bob.ring])).toBe(bob.id);
  });

  test("by too many keys is refused before it costs time", async () => {
    await expect(
      verify(await sign(alice, { others: Array.from({ length: 16 }, () => bob) }), [alice.ring]),
    ).rejects.toThrow("there are more than 16 signatures in one armor");
  });

  test("by a key that has expired since does not verify", async () => {
    const short = await signer({ keyExpirationTime: 29.5 * 24 * 60 * 60 });
    await expect(verify(await sign(short, { at: now - 2 * dayMs }), [short.ring])).rejects.toThrow(noMatch);
    const long = await signer({ keyExpirationTime: 31 * 24 * 60 * 60 });
    expect(await verify(await sign(long), [long.ring])).toBe(long.id);
  });

  test("by a subkey that has expired since does not verify", async () => {
    const carol = await signer({ subkeys: [{ sign: true, keyExpirationTime: 29.5 * 24 * 60 * 60 }] });
    await expect(verify(await sign(carol, { at: now - 2 * dayMs }), [carol.ring])).rejects.toThrow(noMatch);
  });

  test.each([
    { why: "compromised", flag: openpgp.enums.reasonForRevocation.keyCompromised },
    { why: "retired", flag: openpgp.enums.reasonForRevocation.keyRetired },
    { why: "superseded", flag: openpgp.enums.reasonForRevocation.keySuperseded },
  ])("by a key that was revoked since as $why does not verify", async ({ flag }) => {
    const signature = await sign(alice);
    const options = { key: alice.privateKey, reasonForRevocation: { flag }, date: new Date(now - 1000) };
    const { publicKey } = await openpgp.revokeKey({ ...options, format: "armored" });
    await expect(verify(signature, [publicKey])).rejects.toThrow(noMatch);
  });

  test("by a key that may only certify or encrypt does not verify", async () => {
    const carol = await signer({ subkeys: [{ sign: true }, {}] });
    const signature = await sign(carol);
    const without = await openpgp.readKey({ armoredKey: carol.ring });
    without.subkeys = without.subkeys.slice(1);
    await expect(verify(signature, [without.armor()])).rejects.toThrow(noMatch);
  });

  test("by a key whose expiry was extended later still verifies", async () => {
    const { privateKey } = await signer({ keyExpirationTime: 10 * 24 * 60 * 60 });
    const signature = await sign({ ...alice, privateKey }, { at: now - 25 * dayMs });
    const options = { privateKey, userIDs: { email: "a@example.com" }, date: new Date(now - dayMs) };
    const { publicKey } = await openpgp.reformatKey({ ...options, keyExpirationTime: 0, format: "armored" });
    expect(await verify(signature, [publicKey])).toBe(privateKey.getKeyID().toHex().toUpperCase());
  });

  test("from the future verifies within the allowed clock skew, also by a new key", async () => {
    const ahead = await signer({ date: new Date(now + maxSkewMs - 1000) });
    expect(await verify(await sign(ahead, { at: now + maxSkewMs - 1000 }), [ahead.ring])).toBe(ahead.id);
    await expect(verify(await sign(alice, { at: now + maxSkewMs + 1000 }), [alice.ring])).rejects.toThrow(noMatch);
  });

  test.each([
    { type: "standalone", value: openpgp.enums.signature.standalone },
    { type: "timestamp", value: openpgp.enums.signature.timestamp },
  ])("of type $type signs no bytes, so it does not verify", async ({ value }) => {
    const packet = new openpgp.SignaturePacket();
    const { keyPacket } = alice.privateKey;
    if (!(keyPacket instanceof openpgp.SecretKeyPacket)) throw new Error("a private key holds its secret");
    Object.assign(packet, {
      signatureType: value,
      publicKeyAlgorithm: keyPacket.algorithm,
      hashAlgorithm: openpgp.enums.hash.sha512,
    });
    // The library's types do not know its last parameter.
    const signBy = packet.sign.bind(packet, keyPacket, payload, new Date(now - dayMs), true);
    await Reflect.apply(signBy, undefined, [openpgp.config]);
    const list = new openpgp.PacketList<openpgp.SignaturePacket>();
    list.push(packet);
    const signature = new openpgp.Signature(list).armor();
    expect(signature).toContain("BEGIN PGP SIGNATURE");
    await expect(verify(signature, [alice.ring])).rejects.toThrow(noMatch);
  });

  test("that is damaged is refused", async () => {
    const signature = await sign(alice);
    for (const text of [signature.slice(0, 60), signature.replace(/\n\n.{20}/, "\n\n"), armorOf("x")]) {
      await expect(verify(text, [alice.ring])).rejects.toThrow(noMatch);
    }
  });
});

function armorOf(body: string): string {
  return `-----BEGIN PGP SIGNATURE-----\n\n${body}\n-----END PGP SIGNATURE-----\n`;
}

describe("a PGP key ring", () => {
  test("may contain a private key, of which only the public part is used", async () => {
    expect(await verify(await sign(alice), [alice.privateKey.armor()])).toBe(alice.id);
  });

  test.each([
    { what: "no armor", ring: "x", says: "openpgp: invalid argument: no armored data found" },
    {
      what: "another armor",
      ring: armorOf("iQ=="),
      says: "openpgp: invalid argument: expected public or private key block, got: PGP SIGNATURE",
    },
    {
      what: "a damaged key",
      ring: "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxsBN\n-----END PGP PUBLIC KEY BLOCK-----\n",
      says: "openpgp: invalid data: the key block is damaged",
    },
  ])("with $what cannot be parsed, which is reported if there is no other ring", async ({ ring, says }) => {
    const signature = await sign(alice);
    await expect(verify(signature, [ring])).rejects.toThrow(`unable to read armored key ring: ${says}`);
    await expect(verify(signature, [ring, bob.ring])).rejects.toThrow(noMatch);
    expect(await verify(signature, [ring, alice.ring])).toBe(alice.id);
  });

  describe("with a DSA key", () => {
    const { ring, ringOf, signature } = senselessDsa(payload, 2_048);

    test.each([
      { what: "alone", rings: () => [ring], says: "openpgp: unsupported feature: a key of DSA" },
      { what: "before another key", rings: () => [ring, alice.ring], says: noMatch },
      { what: "as a subkey", rings: () => [ringOf(alice.privateKey.toPublic())], says: noMatch },
    ])("$what does no arithmetic with its numbers, which may be long", async ({ rings, says }) => {
      using computed = vi.spyOn(globalThis, "BigInt");
      await expect(verify(signature, rings())).rejects.toThrow(says);
      expect(computed).not.toHaveBeenCalled();
    });

    test("still verifies with its other keys", async () => {
      const signed = await sign(alice);
      expect(await verify(signed, [ring, alice.ring])).toBe(alice.id);
      expect(await verify(signed, [ringOf(alice.privateKey.toPublic())])).toBe(alice.id);
    });
  });
});
