import { armor, Encrypter, generateHybridIdentity, generateX25519Identity, identityToRecipient } from "age-encryption";
import { describe, expect, test } from "vitest";
import { ageIdentities, ageKeys, maxHybridTries, maxTries } from "../../../../lib/sops/keys/age.ts";
import { SopsFault } from "../../../../lib/sops/sops-fault.ts";
import { fixture, identities, never } from "../fixtures.ts";

const head = "failed to create reader for decrypting sops data key with age";

async function encrypted(plain: string | Uint8Array, ...to: readonly string[]): Promise<string> {
  const encrypter = new Encrypter();
  for (const identity of to) encrypter.addRecipient(await identityToRecipient(identity));
  return armor.encode(await encrypter.encrypt(plain));
}

function open(enc: string, keys: readonly string[]): Promise<Uint8Array | undefined> {
  return ageKeys(keys).open({ kind: "age", recipient: "age1", enc }, never);
}

/** Changes one byte of the file inside the armor. */
function flipped(armored: string, at: (bytes: Buffer) => number): string {
  const bytes = Buffer.from(armor.decode(armored));
  const index = at(bytes);
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return armor.encode(bytes);
}

describe("a data key that is encrypted for age", () => {
  test("is decrypted by the identity that it is for, whichever that is", async () => {
    const [one, two, three] = [
      await generateX25519Identity(),
      await generateX25519Identity(),
      await generateX25519Identity(),
    ];
    const enc = await encrypted("data key", two, three);
    for (const keys of [[two], [three], [one, three]]) {
      expect(Buffer.from((await open(enc, keys)) ?? []).toString()).toBe("data key");
    }
  });

  test("is decrypted by a post-quantum identity", async () => {
    const [classic, hybrid] = [await generateX25519Identity(), await generateHybridIdentity()];
    const enc = await encrypted("data key", hybrid);
    expect(Buffer.from((await open(enc, [classic, hybrid])) ?? []).toString()).toBe("data key");
    await expect(open(enc, [await generateHybridIdentity()])).rejects.toThrow("incorrect identity");
    await expect(open(enc, [classic])).rejects.toThrow("incorrect identity");
  });

  test("is not decrypted by another key, with age's text", async () => {
    const enc = await encrypted("data key", await generateX25519Identity());
    await expect(open(enc, identities("first"))).rejects.toThrow(
      `${head}: identity did not match any of the recipients: incorrect identity for recipient block`,
    );
    await expect(open(enc, identities("first", "second"))).rejects.toThrow(
      `${head}: no identity matched any of the recipients`,
    );
  });

  test("is skipped without identities, and if it is for another kind of key", async () => {
    const enc = await encrypted("data key", ...identities("first"));
    expect(await open(enc, [])).toBeUndefined();
    expect(await ageKeys(identities("first")).open({ kind: "pgp", fingerprint: "f", enc }, never)).toBeUndefined();
  });

  test("is refused if any part of the file is changed", async () => {
    const enc = await encrypted("data key", ...identities("first"));
    const end = (bytes: Buffer): number => bytes.indexOf("\n--- ");
    const changes: [(bytes: Buffer) => number, string][] = [
      [(bytes) => end(bytes) + 6, ""],
      [() => 3, "failed to read header"],
      [(bytes) => bytes.indexOf("X25519"), "identity did not match"],
      [(bytes) => bytes.length - 1, "failed to decrypt and authenticate payload chunk"],
      [(bytes) => bytes.indexOf("\n", end(bytes) + 1) + 1, "failed to decrypt and authenticate payload chunk"],
    ];
    for (const [at, text] of changes) {
      await expect(open(flipped(enc, at), identities("first"))).rejects.toThrow(`${head}: ${text}`);
    }
    await expect(open("no armor", identities("first"))).rejects.toThrow(`${head}: failed to read header`);
    await expect(
      open(await encrypted(new Uint8Array(70_000), ...identities("first")), identities("first")),
    ).rejects.toThrow("damaged");
  });

  test("is refused if a stanza was added to the header", async () => {
    const bytes = Buffer.from(armor.decode(await encrypted("data key", ...identities("first"))));
    const at = bytes.indexOf("\n--- ");
    const added = Buffer.concat([bytes.subarray(0, at), Buffer.from("\n-> other word\nAA"), bytes.subarray(at)]);
    await expect(open(armor.encode(added), identities("first"))).rejects.toThrow(`${head}: bad header MAC`);
  });
});

describe("an agekey", () => {
  test("contains one identity per line, and comments", () => {
    const text = `# public key\n${fixture("keys/first.agekey").toString()}\r\n\n${fixture("keys/post-quantum.agekey").toString()}`;
    expect(ageIdentities(text)).toEqual(identities("first", "post-quantum"));
    expect(ageIdentities("")).toEqual([]);
  });

  test.each([
    ["a word", "hunter2", "unknown identity type"],
    ["a plugin", "AGE-PLUGIN-YUBIKEY-1QQQ", "plugins of age are not supported"],
    ["a key that is too short", "AGE-SECRET-KEY-1QQQQQQQQ", "malformed secret key"],
    ["too many", "AGE-SECRET-KEY-1Q\n".repeat(65), "more than 64 identities"],
  ])("with %s is refused without showing it", (_, text, why) => {
    expect(() => ageIdentities(text)).toThrow(new SopsFault(`failed to parse and add to age identities: ${why}`));
  });

  test("with one wrong letter is refused", () => {
    const [key = ""] = identities("first");
    const wrong = `${key.slice(0, -1)}${key.endsWith("Q") ? "P" : "Q"}`;
    expect(() => ageIdentities(wrong)).toThrow("malformed secret key");
  });
});

test.each([
  {
    kind: "X25519",
    words: "X25519 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    most: maxTries,
    make: generateX25519Identity,
  },
  { kind: "hybrid", words: "mlkem768x25519 AAAA", most: maxHybridTries, make: generateHybridIdentity },
])("a data key for many recipients is not tried with many $kind identities", async ({ words, most, make }) => {
  const stanzas = (count: number): string =>
    armor.encode(
      Buffer.from(
        `age-encryption.org/v1\n${`-> ${words}\n${"A".repeat(43)}\n`.repeat(count)}--- ${"A".repeat(43)}\n${"x".repeat(64)}`,
      ),
    );
  const identity = await make();
  const keys = Array.from({ length: 8 }, () => identity);
  await expect(open(stanzas(most / 8 + 1), keys)).rejects.toThrow(
    `its recipients and the identities are ${most + 8} pairs, ${most} are tried`,
  );
  await expect(open(stanzas(most / 8), keys)).rejects.not.toThrow("are tried");
});
