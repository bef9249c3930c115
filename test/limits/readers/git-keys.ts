import { generateKeyPairSync } from "node:crypto";
import * as openpgp from "openpgp";
import { messageOf } from "../../../lib/core/failure.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { noTenant } from "../../../lib/core/tenant.ts";
import { githubAppTokens } from "../../../lib/sources/git/github-app.ts";
import { maxRsaBits, parseSshKey } from "../../../lib/sources/git/ssh-key.ts";
import { maxKeyBytes, verifySignature } from "../../../lib/sources/git/verify/verify-signature.ts";
import { readSigningKey } from "../../../lib/sources/git/write/signing-key.ts";
import { steppedClock } from "../../doubles/stepped-clock.ts";
import { senselessDsa } from "../../unit/sources/git/verify/pgp-dsa.ts";
import { ecdsaSigner, rsaSigner, sshSignature } from "../../unit/sources/git/verify/ssh-signer.ts";
import type { WorstInput } from "../worst-input.ts";

const signal = new AbortController().signal;
const payload = Buffer.from("tree 1\n\nhello\n");
const now = Date.parse("2026-11-23T12:00:00Z");

function reading(
  reader: string,
  name: string,
  memoryMiB: number,
  make: () => Promise<() => Promise<unknown>>,
): WorstInput {
  return {
    reader,
    name,
    memoryMiB,
    make: async () => {
      const read = await make();
      return () => read().catch(messageOf);
    },
  };
}

const verifying = (signature: string, file: string, keys: string) => () =>
  verifySignature({ type: "commit", payload, signature }, new Map([[file, keys]]), now);

/** Reads a key and signs a commit with it. */
const signing = (key: string, passphrase: string) => async () => {
  const data = new Map([
    ["git.asc", key],
    ["passphrase", passphrase],
  ]);
  const reader = { tenant: noTenant, signal };
  const sign = await readSigningKey("gpg", { name: "key", data }, reader, now);
  const people = "author a <a@b> 1795953600 +0000\ncommitter a <a@b> 1795953600 +0000\n";
  return sign(Buffer.from(`tree ${"a".repeat(40)}\n${people}\nhello\n`), signal);
};

/** As many copies as may be read. */
const filled = (text: string, maxBytes: number): string => text.repeat(Math.floor(maxBytes / text.length));

async function pgpKey(): Promise<{ readonly ring: openpgp.PublicKey; readonly signature: string }> {
  const date = new Date(now - 1_000_000_000);
  const { privateKey } = await openpgp.generateKey({ date, userIDs: { email: "a@example.com" }, format: "object" });
  const message = await openpgp.createMessage({ binary: payload });
  const signed = await openpgp.sign({ message, signingKeys: privateKey, detached: true, date, format: "object" });
  return { ring: privateKey.toPublic(), signature: signed.armor() };
}

/** What Secrets hold to verify commits and to log in at git servers. */
export const gitKeyReaders: readonly WorstInput[] = [
  reading("lib/sources/git/verify/pgp-signature.ts", "one armor of other keys, 512 KiB of them", 200, async () => {
    const [{ signature }, { ring }] = [await pgpKey(), await pgpKey()];
    const packets = Buffer.from(ring.toPacketList().write());
    const count = Math.floor((0.7 * maxKeyBytes) / packets.length);
    const all = Buffer.concat(Array.from({ length: count }, () => packets));
    return verifying(signature, "a.asc", openpgp.armor(openpgp.enums.armor.publicKey, all));
  }),
  reading("lib/sources/git/verify/pgp-signature.ts", "armors of other keys, 512 KiB of them", 200, async () => {
    const [{ signature }, { ring }] = [await pgpKey(), await pgpKey()];
    return verifying(signature, "a.asc", filled(ring.armor(), maxKeyBytes));
  }),
  reading("lib/sources/git/verify/pgp-signature.ts", "a key of DSA of 65,528 bits", 64, async () => {
    const { ring, signature } = senselessDsa(payload, 65_528);
    return verifying(signature, "a.asc", ring);
  }),
  reading("lib/sources/git/verify/ssh-public-key.ts", "keys on P-521 that do not match", 64, async () => {
    const { line } = ecdsaSigner(521);
    return verifying(sshSignature(ecdsaSigner(521), payload), "a.sshpub", filled(`${line}\n`, maxKeyBytes));
  }),
  reading("lib/sources/git/verify/ssh-public-key.ts", "a key of RSA of 8,192 bits, in each line", 64, async () => {
    const signer = rsaSigner(8_192);
    const signature = sshSignature(signer, Buffer.from("other"));
    return verifying(signature, "a.sshpub", filled(`${signer.line}\n`, maxKeyBytes));
  }),
  reading("lib/sources/git/ssh-key.ts", "an encrypted key with the most iterations of PBKDF2", 64, async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const text = privateKey
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "a".repeat(4_096) })
      .toString();
    await parseSshKey(text, "wrong").catch(messageOf);
    return () => parseSshKey(text, "a".repeat(4_096));
  }),
  reading("lib/sources/git/write/sign-gpg.ts", "a key whose passphrase is hashed most often", 200, async () => {
    const config = { s2kIterationCountByte: 255 };
    const { privateKey } = await openpgp.generateKey({
      date: new Date(now - 1_000_000_000),
      userIDs: { email: "a@example.com" },
      type: "rsa",
      rsaBits: 4_096,
      subkeys: [{ sign: true }],
      passphrase: "hunter2",
      format: "object",
      config,
    });
    return signing(privateKey.armor(), "hunter2");
  }),
  reading("lib/sources/git/write/sign-gpg.ts", "400 people, nearly as many as 128 KiB hold", 128, async () => {
    const userIDs = Array.from({ length: 400 }, (_, index) => ({ email: `${index}@example.com` }));
    const date = new Date(now - 1_000_000_000);
    const { privateKey } = await openpgp.generateKey({ date, userIDs, format: "object" });
    return signing(privateKey.armor(), "");
  }),
  reading("lib/sources/git/github-app.ts", "a key of 8,192 bits, and an answer of 1 MiB of lists", 64, async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: maxRsaBits });
    const body = Buffer.from(`[${"[],".repeat(349_000)}[]]`);
    const http = { send: async ({ url }: { readonly url: string }) => ({ url, status: 200, headers: {}, body }) };
    const tokens = githubAppTokens(http, steppedClock());
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const app = { id: "1", privateKey: new Secret(pem), installation: { owner: "a" } };
    return () => tokens(app, signal);
  }),
];
