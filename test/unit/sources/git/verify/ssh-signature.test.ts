import { createHash } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { verifySshSignature } from "../../../../../lib/sources/git/verify/ssh-signature.ts";
import { WireReader } from "../../../../../lib/sources/git/verify/wire-reader.ts";
import {
  armor,
  ecdsaSigner,
  ed25519Signer,
  hardwareSigner,
  rsaSigner,
  type SshSigner,
  sshSignature,
  wire,
} from "./ssh-signer.ts";

const payload = Buffer.from("tree 1\nauthor a <a@example.com> 1 +0000\n\nhello\n");
const noMatch = "unable to verify payload with any of the given authorized keys: no matching key";

function verify(
  signature: string,
  keys: readonly (SshSigner | string)[],
  bytes: Uint8Array = payload,
): Promise<string> {
  const files = keys.map((key) => (typeof key === "string" ? key : key.line));
  return verifySshSignature(bytes, signature.trim(), files);
}

function fingerprintOf({ blob }: SshSigner): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replaceAll("=", "")}`;
}

const makers = [
  { name: "ssh-ed25519", make: ed25519Signer },
  { name: "ecdsa-sha2-nistp256", make: () => ecdsaSigner(256) },
  { name: "ecdsa-sha2-nistp384", make: () => ecdsaSigner(384) },
  { name: "ecdsa-sha2-nistp521", make: () => ecdsaSigner(521) },
  { name: "rsa-sha2-256", make: () => rsaSigner(2048, "rsa-sha2-256") },
  { name: "rsa-sha2-512", make: () => rsaSigner(2048) },
  { name: "sk-ssh-ed25519", make: () => hardwareSigner("ed25519") },
  { name: "sk-ecdsa-sha2-nistp256", make: () => hardwareSigner("ecdsa") },
];

describe.each(makers)("an SSH signature by $name", ({ make }) => {
  const signer = make();
  const signature = sshSignature(signer, payload);

  test("is verified, and reports the fingerprint of its key", async () => {
    expect(await verify(signature, [signer])).toBe(fingerprintOf(signer));
    expect(await verify(sshSignature(signer, payload, { hash: "sha256" }), [signer])).toBe(fingerprintOf(signer));
  });

  test("is verified by any key of any file that matches", async () => {
    const other = ed25519Signer();
    expect(await verify(signature, [other, `# ours\n\n${other.line}\n${signer.line}\n`])).toBe(fingerprintOf(signer));
  });

  test("does not verify other bytes", async () => {
    const tampered = Buffer.from(payload);
    tampered[5] = 0x32;
    await expect(verify(signature, [signer], tampered)).rejects.toThrow(`${noMatch}\nssh: signature did not verify`);
    await expect(verify(signature, [signer], payload.subarray(1))).rejects.toThrow("ssh: signature did not verify");
  });

  test("does not verify if its key is untrusted, also if it names a trusted one", async () => {
    const trusted = make();
    await expect(verify(signature, [trusted])).rejects.toThrow(`${noMatch}\npublic key does not match`);
    const forged = sshSignature(signer, payload, { blob: trusted.blob });
    await expect(verify(forged, [trusted])).rejects.toThrow(`${noMatch}\nssh: signature did not verify`);
  });

  test("does not verify if any of its bytes changes", async () => {
    const bytes = Buffer.from(signature.split("\n").slice(1, -2).join(""), "base64");
    const step = Math.ceil(bytes.length / 60);
    // The reserved field is empty, and each byte of its length is meant as well.
    for (let at = 0; at < bytes.length; at += step) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      await expect(verify(armor(changed), [signer]), `byte ${at}`).rejects.toThrow(/^unable to /);
    }
  });

  test("cannot be parsed if it is cut off at any byte", async () => {
    const bytes = Buffer.from(signature.split("\n").slice(1, -2).join(""), "base64");
    for (let length = 0; length < bytes.length; length += 3) {
      await expect(verify(armor(bytes.subarray(0, length)), [signer]), `${length} bytes`).rejects.toThrow(
        "unable to unarmor SSH signature: ",
      );
    }
  });
});

describe("an SSH signature", () => {
  const signer = ed25519Signer();

  test.each(["file", "", "git ", "Git", "email"])(
    "with the namespace %j is not accepted for a commit",
    async (namespace) => {
      const signature = sshSignature(signer, payload, { namespace });
      await expect(verify(signature, [signer])).rejects.toThrow(`${noMatch}\nnamespace does not match`);
    },
  );

  test("that claims git but was made for a file does not verify", async () => {
    const file = sshSignature(signer, payload, { namespace: "file" });
    const bytes = Buffer.from(file.split("\n").slice(1, -2).join(""), "base64").toString("latin1");
    const renamed = Buffer.from(bytes.replace("\0\0\0\x04file", "\0\0\0\x03git"), "latin1");
    await expect(verify(armor(renamed), [signer])).rejects.toThrow(`${noMatch}\nssh: signature did not verify`);
  });

  test.each([
    { what: "of another version", options: { version: 2 }, says: "unsupported signature version 2: expected 1" },
    { what: "of another magic", options: { magic: "SSHSIH" }, says: "invalid magic preamble" },
    { what: "over SHA-1", options: { hash: "sha1" }, says: 'unsupported hash algorithm "sha1"' },
    { what: "with more bytes behind it", options: { junk: Buffer.from([0]) }, says: "ssh: trailing junk in signature" },
  ])("$what is refused", async ({ options, says }) => {
    await expect(verify(sshSignature(signer, payload, options), [signer])).rejects.toThrow(
      `unable to unarmor SSH signature: ${says}`,
    );
  });

  test("of a security key without user presence is refused", async () => {
    for (const kind of ["ed25519", "ecdsa"] as const) {
      const untouched = hardwareSigner(kind, 0);
      await expect(verify(sshSignature(untouched, payload), [untouched])).rejects.toThrow(
        `${noMatch}\nssh: signature missing required user presence flag`,
      );
    }
  });

  test("by RSA with SHA-1, or in a format of another key type, is refused", async () => {
    const old = rsaSigner(2048, "ssh-rsa");
    await expect(verify(sshSignature(old, payload), [old])).rejects.toThrow(
      'ssh: signature type "ssh-rsa" for key type ssh-rsa',
    );
    const mixed = { ...signer, sign: (data: Buffer) => Buffer.concat([wire("rsa-sha2-512"), signer.sign(data)]) };
    await expect(verify(sshSignature(mixed, payload), [mixed])).rejects.toThrow(
      'ssh: signature type "rsa-sha2-512" for key type ssh-ed25519',
    );
  });

  test.each(["-----BEGIN SSH SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----\n!\n-----END SSH SIGNATURE-----"])(
    "without a valid armor is refused: %j",
    async (text) => {
      await expect(verify(text, [signer])).rejects.toThrow("unable to unarmor SSH signature: invalid PEM block");
    },
  );

  test("is verified with the key files that can be parsed; if none can, the message says so", async () => {
    const signature = sshSignature(signer, payload);
    expect(await verify(signature, ["nonsense", signer])).toBe(fingerprintOf(signer));
    await expect(verify(signature, ["nonsense", "more"])).rejects.toThrow(
      "unable to parse authorized keys: unable to parse authorized key: ssh: no key found",
    );
    await expect(verify(signature, ["# none yet\n"])).rejects.toThrow(noMatch);
  });
});

test("a signature is checked once per key, however often the key is trusted", async () => {
  const signer = ed25519Signer();
  const taken = vi.spyOn(WireReader.prototype, "take");
  const callsFor = async (lines: string): Promise<number> => {
    taken.mockClear();
    await expect(verify(sshSignature(signer, Buffer.from("other")), [lines])).rejects.toThrow("did not verify");
    return taken.mock.calls.length;
  };
  // Every line is parsed; only the first one with its key reads the signature.
  const another = ed25519Signer();
  expect(await callsFor(`${signer.line}\n${signer.line}`)).toBe(await callsFor(`${signer.line}\n${another.line}`));
  expect(await callsFor(signer.line)).toBeGreaterThan(0);
});
