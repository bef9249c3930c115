import { generateKeyPairSync } from "node:crypto";
import * as openpgp from "openpgp";
import { describe, expect, test } from "vitest";
import { noTenant } from "../../../../../lib/core/tenant.ts";
import { parseSshKey } from "../../../../../lib/sources/git/ssh-key.ts";
import { signedCommit } from "../../../../../lib/sources/git/verify/signed-object.ts";
import { verifySignature } from "../../../../../lib/sources/git/verify/verify-signature.ts";
import { commitBytes } from "../../../../../lib/sources/git/write/commit-bytes.ts";
import type { SignCommit } from "../../../../../lib/sources/git/write/git-clone.ts";
import { maxGpgKeyChars } from "../../../../../lib/sources/git/write/sign-gpg.ts";
import { readSigningKey } from "../../../../../lib/sources/git/write/signing-key.ts";
import { never } from "../../../../contract/state-back-end.ts";
import { rsaKeyOf } from "../rsa-key-of.ts";

const now = Date.parse("2026-11-29T12:00:00Z");
const created = new Date(now - 86_400_000);
const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

function read(type: "gpg" | "ssh", data: Readonly<Record<string, string>>): Promise<SignCommit> {
  const reader = { tenant: noTenant, signal: never };
  return readSigningKey(type, { name: "key", data: new Map(Object.entries(data)) }, reader, now);
}

function commit(sign: SignCommit): Promise<Buffer> {
  const author = { name: "Flux", email: "flux@example.com", at: now };
  return commitBytes({ tree, parent: undefined, author, message: "Update\n\ngrüße\n", sign }, never);
}

async function pgpKey(options: Partial<openpgp.KeyOptions> = {}) {
  const { privateKey } = await openpgp.generateKey({
    date: created,
    userIDs: { email: "flux@example.com" },
    ...options,
    format: "object",
  });
  return {
    id: privateKey.getKeyID().toHex().toUpperCase(),
    ring: privateKey.toPublic().armor(),
    secret: privateKey.armor(),
  };
}

describe("image-automation/64: a commit signed with an SSH key", () => {
  const pem = { type: "pkcs8", format: "pem" } as const;
  const keys = {
    ed25519: () => generateKeyPairSync("ed25519").privateKey.export(pem),
    "ECDSA P-256": () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pem),
    "ECDSA P-384": () => generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export(pem),
    "ECDSA P-521": () => generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey.export(pem),
    RSA: () => generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export(pem),
  };

  test.each(Object.entries(keys))(
    "%s is verified with its public key, and a changed commit is not",
    async (_, make) => {
      const identity = String(make());
      const parsed = await parseSshKey(identity, "");
      const trusted = new Map([["a.sshpub", `${parsed.type} ${parsed.getPublicSSH().toString("base64")}\n`]]);
      const sign = await read("ssh", { identity });
      // A number of an ECDSA signature may begin with zeros or need one before it.
      for (let times = 0; times < 20; times++) {
        const signed = signedCommit(await commit(sign));
        expect(await verifySignature(signed, trusted, now)).toEqual({ keyId: expect.stringMatching(/^SHA256:/) });
        const payload = Buffer.concat([signed.payload, Buffer.from("x")]);
        await expect(verifySignature({ ...signed, payload }, trusted, now)).rejects.toThrow("did not verify");
      }
    },
  );

  test("decrypts a key with its password, and reports a missing one", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const identity = String(privateKey.export({ ...pem, cipher: "aes-256-cbc", passphrase: "hunter2" }));
    expect(signedCommit(await commit(await read("ssh", { identity, password: "hunter2" }))).signature).toContain("SSH");
    await expect(read("ssh", { identity })).rejects.toThrow(
      /^can not use passphrase protected signing key without 'password' field present in secret key$/,
    );
    await expect(read("ssh", { identity, password: "wrong" })).rejects.toThrow(
      /^could not parse SSH signing key from secret 'key': x509: decryption password incorrect$/,
    );
  });

  test("reports a Secret without a key, and a key that cannot sign", async () => {
    await expect(read("ssh", { "git.asc": "" })).rejects.toThrow(
      /^signing key secret 'key' does not contain an 'identity' key$/,
    );
    const failed = "could not parse SSH signing key from secret 'key': ";
    await expect(read("ssh", { identity: "hunter2" })).rejects.toThrow(`${failed}ssh: no key found`);
    await expect(read("ssh", { identity: rsaKeyOf(1_024) })).rejects.toThrow(
      `${failed}an RSA key of 1024 bits is too weak to sign, it must have 2048 bits or more`,
    );
  });

  test("a run that ends while the key is parsed throws the reason of its signal", async () => {
    const reason = new Error("the run has ended");
    const reader = { tenant: noTenant, signal: AbortSignal.abort(reason) };
    const secret = { name: "key", data: new Map([["identity", "x"]]) };
    await expect(readSigningKey("ssh", secret, reader, now)).rejects.toBe(reason);
  });
});

describe("image-automation/64: a commit signed with a PGP key", () => {
  const algorithms: Readonly<Record<string, Partial<openpgp.KeyOptions>>> = {
    "on Curve25519": { type: "ecc", curve: "ed25519Legacy" },
    "on P-256": { type: "ecc", curve: "nistP256" },
    "of RSA": { type: "rsa", rsaBits: 2_048 },
    "with a subkey that signs": { subkeys: [{ sign: true }, { sign: false }] },
  };

  test.each(Object.entries(algorithms))(
    "%s is verified with its ring, and a changed commit is not",
    async (_, options) => {
      const { id, ring, secret } = await pgpKey(options);
      const signed = signedCommit(await commit(await read("gpg", { "git.asc": secret })));
      const trusted = new Map([["a.asc", ring]]);
      expect(await verifySignature(signed, trusted, now)).toEqual({ keyId: id });
      const payload = Buffer.concat([signed.payload, Buffer.from("x")]);
      await expect(verifySignature({ ...signed, payload }, trusted, now)).rejects.toThrow("no matching key");
    },
  );

  test("has the same time in commit and signature", async () => {
    const { secret } = await pgpKey();
    const { signature } = signedCommit(await commit(await read("gpg", { "git.asc": secret })));
    const { packets } = await openpgp.readSignature({ armoredSignature: signature });
    expect(packets[0]?.created).toEqual(new Date(now));
  });

  test.each([
    ["of the whole key", {}],
    ["of the key with a subkey that signs", { subkeys: [{ sign: true }] }],
  ])("decrypts with the passphrase %s, and reports a missing and a wrong one", async (_, options) => {
    const { id, ring, secret } = await pgpKey({ ...options, passphrase: "hunter2" });
    const sign = await read("gpg", { "git.asc": secret, passphrase: "hunter2" });
    expect(await verifySignature(signedCommit(await commit(sign)), new Map([["a.asc", ring]]), now)).toEqual({
      keyId: id,
    });
    await expect(read("gpg", { "git.asc": secret })).rejects.toThrow(
      /^can not use passphrase protected signing key without 'passphrase' field present in secret key$/,
    );
    await expect(read("gpg", { "git.asc": secret, passphrase: "wrong" })).rejects.toThrow(
      /^could not decrypt private key of the signing key present in secret key: openpgp: invalid data: private key checksum failure$/,
    );
  });

  test("refuses a passphrase derived with Argon2, whose memory and time the key chooses", async () => {
    const s2kArgon2Params = { passes: 1, parallelism: 1, memoryExponent: 10 };
    const config: Partial<openpgp.Config> = { s2kType: openpgp.enums.s2k.argon2, aeadProtect: true, s2kArgon2Params };
    const { secret } = await pgpKey({ passphrase: "hunter2", config });
    await expect(read("gpg", { "git.asc": secret, passphrase: "hunter2" })).rejects.toThrow(
      "its passphrase is derived by Argon2, which is not supported: export the key with gpg",
    );
  });

  test("reports a Secret without a key, and a damaged, a public and a second key", async () => {
    const [one, two] = [await pgpKey(), await pgpKey()];
    await expect(read("gpg", { identity: "" })).rejects.toThrow(
      /^signing key secret 'key' does not contain a 'git\.asc' key$/,
    );
    const failed = "could not read signing key from secret 'key': ";
    const told = (text: string, why: string) => expect(read("gpg", { "git.asc": text })).rejects.toThrow(failed + why);
    await told("hunter2", "openpgp: invalid argument: no armored data found");
    await told(one.ring, "git.asc is a public key: store the private one (gpg --export-secret-keys --armor)");
    await told(one.secret.replace(/\n\n.{20}/, "\n\n"), "openpgp: invalid data: the key block is damaged");
    await told(`${one.secret}${"x".repeat(maxGpgKeyChars)}`, `git.asc has more than ${maxGpgKeyChars} characters`);
    const packets = (
      await Promise.all([one, two].map(({ secret }) => openpgp.readPrivateKey({ armoredKey: secret })))
    ).map((key) => Buffer.from(key.write()));
    const both = openpgp.armor(openpgp.enums.armor.privateKey, Buffer.concat(packets));
    await expect(read("gpg", { "git.asc": both })).rejects.toThrow(
      /^multiple entities read from secret 'key', could not determine which signing key to use$/,
    );
  });

  test("refuses an expired key", async () => {
    const { secret } = await pgpKey({ keyExpirationTime: 3_600 });
    await expect(read("gpg", { "git.asc": secret })).rejects.toThrow("could not read signing key from secret 'key': ");
  });
});
