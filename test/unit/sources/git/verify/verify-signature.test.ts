import { describe, expect, test } from "vitest";
import type { SignedObject } from "../../../../../lib/sources/git/verify/signed-object.ts";
import {
  maxKeyBytes,
  maxSignatureBytes,
  verifySignature,
} from "../../../../../lib/sources/git/verify/verify-signature.ts";
import { ed25519Signer, sshSignature } from "./ssh-signer.ts";

const payload = Buffer.from("tree 1\n\nhello\n");
const signer = ed25519Signer();
const ssh = sshSignature(signer, payload);
const pgp = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n";

function verify(
  signature: string,
  keys: Readonly<Record<string, string>>,
  type: SignedObject["type"] = "commit",
): Promise<{ keyId: string }> {
  return verifySignature({ type, payload, signature }, new Map(Object.entries(keys)), 1_700_000_000_000);
}

describe("a signature of git", () => {
  test("by SSH is verified with the entries *.sshpub only", async () => {
    expect((await verify(ssh, { "a.asc": "x", "b.sshpub": signer.line })).keyId).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
    const others = ["a.asc", "b.pub", "c.sshpub.old", "sshpub", "d.SSHPUB"].map((name) => [name, signer.line] as const);
    await expect(verify(ssh, Object.fromEntries(others))).rejects.toThrow(
      /^SSH signature detected but no SSH public keys found in secret \(keys with \.sshpub suffix\)$/,
    );
  });

  test("by PGP is verified with all other entries", async () => {
    await expect(verify(pgp, { "a.sshpub": signer.line })).rejects.toThrow(
      /^PGP signature detected but no PGP public keys found in secret \(keys with \.asc suffix\)$/,
    );
    await expect(verify(pgp, { "a.pub": "x" })).rejects.toThrow(
      "unable to verify Git commit: unable to read armored key ring: openpgp: invalid argument: no armored data found",
    );
  });

  test.each([
    { signature: "", type: "empty" },
    { signature: "-----BEGIN SIGNED MESSAGE-----\nx\n-----END SIGNED MESSAGE-----\n", type: "x509" },
    { signature: "-----BEGIN PGP MESSAGE-----\nx", type: "unknown" },
    { signature: "x -----BEGIN SSH SIGNATURE-----", type: "unknown" },
  ])("of the type $type is unsupported", async ({ signature, type }) => {
    await expect(verify(signature, { "a.asc": "x", "b.sshpub": signer.line })).rejects.toThrow(
      new RegExp(`^unsupported signature type: ${type}$`),
    );
  });

  test("reports what it signs", async () => {
    const other = { "a.sshpub": ed25519Signer().line };
    const why =
      "unable to verify payload with any of the given authorized keys: no matching key\npublic key does not match";
    await expect(verify(ssh, other)).rejects.toThrow(`unable to verify Git commit SSH signature: ${why}`);
    await expect(verify(ssh, other, "tag")).rejects.toThrow(`unable to verify Git tag SSH signature: ${why}`);
    await expect(verify(pgp, { "a.asc": "x" }, "tag")).rejects.toThrow("unable to verify Git tag: unable to read");
  });

  test("with surrounding white space is the same", async () => {
    expect(await verify(`\n ${ssh}\n\n`, { "b.sshpub": signer.line })).toEqual(
      await verify(ssh, { "b.sshpub": signer.line }),
    );
  });

  test("must be the only one: two are refused, whichever is valid", async () => {
    for (const both of [`${ssh}${pgp}`, `${pgp}${ssh}`, `${ssh}${ssh}`]) {
      await expect(verify(both, { "a.asc": "x", "b.sshpub": signer.line })).rejects.toThrow(
        "there are 2 signatures, but only one can be verified",
      );
    }
  });

  test("has a size limit, and so have the keys", async () => {
    await expect(verify("x".repeat(maxSignatureBytes + 1), {})).rejects.toThrow(
      "the signature has more than 65536 bytes",
    );
    const keys = { "a.sshpub": signer.line, "b.asc": "x".repeat(maxKeyBytes) };
    await expect(verify(ssh, keys)).rejects.toThrow(/^the secret holds \d+ bytes of public keys, but at most 524288/);
  });
});
