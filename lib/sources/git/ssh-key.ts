import { createPrivateKey, type KeyObject } from "node:crypto";
import type { ParsedKey } from "ssh2";
import { messageOf } from "../../core/failure.ts";
import { noTenant } from "../../core/tenant.ts";
import { decryptSshKey, type KeyReader } from "./decrypt-ssh-key.ts";

/** A private key that can be used. It is never shown: what it holds is only for the client of SSH. */
export type SshKey = ParsedKey;

/** The key is encrypted, and there is no passphrase. */
export class PassphraseMissing extends Error {
  override readonly name = "PassphraseMissing";
}

/** Decrypting takes about 10 ms for each, in a thread. `ssh-keygen` sets 16 to 24. */
const maxRounds = 200;
/** The limit for PBKDF2's iterations: about 50 ms. `openssl pkcs8` sets 2,048. */
const maxIterations = 100_000;
/** A key of RSA with 8,192 bits has 7 KiB. */
export const maxKeyChars = 16 * 1024;
/** Signing with a longer key of RSA takes the process more than 100 ms. */
export const maxRsaBits = 8_192;

/** The reader of a key that no object names. */
const noReader: KeyReader = { tenant: noTenant, signal: new AbortController().signal };

/**
 * Reads a private key in the format of OpenSSH, or as PEM (PKCS#1, SEC1, PKCS#8). The passphrase counts only if the key is
 * encrypted. Throws {@link PassphraseMissing}, an `Error` in Go's words, which quotes nothing of the key, or the reason the reader's
 * signal was aborted with.
 */
export async function parseSshKey(text: string, passphrase: string, reader = noReader): Promise<SshKey> {
  if (text.length > maxKeyChars) throw new Error(`ssh: the private key has more than ${maxKeyChars} characters`);
  const [, type, lines = ""] = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)/.exec(text) ?? [];
  if (type === undefined) throw new Error("ssh: no key found");
  const isPkcs8 = type === "PRIVATE KEY" || type === "ENCRYPTED PRIVATE KEY";
  if (!isPkcs8 && !/^(?:OPENSSH|RSA|EC|DSA) PRIVATE KEY$/.test(type)) {
    throw new Error(`ssh: unsupported key type ${JSON.stringify(type)}`);
  }
  const bytes = Buffer.from(lines, "base64");
  const { default: ssh } = await import("ssh2");
  if (type === "OPENSSH PRIVATE KEY" && passphrase !== "" && roundsOf(bytes) > 0) {
    const decrypted = await decryptSshKey({ text: openSshArmor(bytes), passphrase }, reader);
    if ("fault" in decrypted) throw keyFault(new Error(decrypted.fault));
    return parseSshKey(decrypted.pem, "", reader);
  }
  const readable = isPkcs8
    ? withoutPkcs8(bytes, type, passphrase)
    : type === "OPENSSH PRIVATE KEY"
      ? openSshArmor(bytes)
      : text.trim();
  let parsed: ParsedKey | Error;
  try {
    parsed = ssh.utils.parseKey(readable, passphrase === "" ? undefined : passphrase);
  } catch (error) {
    // A wrong passphrase may make anything of it.
    parsed = error instanceof Error ? error : new Error(messageOf(error));
  }
  if (parsed instanceof Error) throw keyFault(parsed);
  if (!parsed.isPrivateKey()) throw new Error("ssh: no key found");
  if (parsed.type === "ssh-rsa") assertFewBits(parsed.getPublicSSH());
  return parsed;
}

function keyFault({ message }: Error): Error {
  if (message.includes("no passphrase given")) {
    return new PassphraseMissing("ssh: this private key is passphrase protected");
  }
  if (/bad passphrase/i.test(message)) return new Error("x509: decryption password incorrect");
  return new Error("ssh: the private key is damaged, or of a kind that is not supported");
}

/** The type, the exponent and the modulus follow each other (RFC 4253, 6.6). */
function assertFewBits(key: Buffer): void {
  const partAt = (at: number): Buffer => key.subarray(at + 4, at + 4 + key.readUInt32BE(at));
  let at = 0;
  for (let skipped = 0; skipped < 2; skipped++) at += 4 + partAt(at).length;
  // With a zero before it, as its first bit is set.
  const bits = 8 * (partAt(at).length - 1);
  if (bits > maxRsaBits)
    throw new Error(`ssh: an RSA key of ${bits} bits is too long, at most ${maxRsaBits} are supported`);
}

/**
 * The rounds of bcrypt by which a key is encrypted, 0 for none. They and the salt follow the names of the cipher and of the key derivation
 * (PROTOCOL.key of OpenSSH). The key that is decrypted is armored from these bytes, so that it is the one that was checked.
 */
function roundsOf(bytes: Buffer): number {
  let at = "openssh-key-v1\0".length;
  const next = (): Buffer => {
    const length = at + 4 <= bytes.length ? bytes.readUInt32BE(at) : 0;
    const part = bytes.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    return part;
  };
  next();
  const derivation = next().toString("latin1");
  const options = next();
  const rounds = derivation === "bcrypt" && options.length >= 8 ? options.readUInt32BE(options.length - 4) : 0;
  if (rounds > maxRounds) {
    const mend = `at most ${maxRounds} are supported: encrypt it again with ssh-keygen -p -a 100`;
    throw new Error(`ssh: decrypting the private key takes ${rounds} rounds of bcrypt, and ${mend}`);
  }
  return rounds;
}

/** The same key in a format that the client of SSH reads. */
function withoutPkcs8(bytes: Buffer, type: string, passphrase: string): string {
  if (type === "ENCRYPTED PRIVATE KEY") {
    if (passphrase === "") throw new PassphraseMissing("ssh: this private key is passphrase protected");
    assertFewIterations(bytes);
  }
  let key: KeyObject;
  try {
    const given = { key: bytes, format: "der", type: "pkcs8" } as const;
    key = createPrivateKey({ ...given, ...(passphrase === "" ? {} : { passphrase }) });
  } catch (error) {
    const why = type === "PRIVATE KEY" ? "asn1: structure error" : "x509: decryption password incorrect";
    throw new Error(why, { cause: error });
  }
  const { asymmetricKeyType = "unknown" } = key;
  if (asymmetricKeyType === "rsa") return key.export({ type: "pkcs1", format: "pem" }).toString();
  if (asymmetricKeyType === "ec") return key.export({ type: "sec1", format: "pem" }).toString();
  if (asymmetricKeyType === "ed25519") return openSshText(key);
  throw new Error(`ssh: unsupported key type ${JSON.stringify(asymmetricKeyType)}`);
}

const pbes2 = Buffer.from("2a864886f70d01050d", "hex");
const pbkdf2 = Buffer.from("2a864886f70d01050c", "hex");

/** Only PBKDF2 is read, whose iterations stand beside the salt (RFC 8018, appendix A). */
function assertFewIterations(der: Buffer): void {
  const [sequence, integer, octets, identifier] = [0x30, 0x02, 0x04, 0x06];
  let at = 0;
  /** Steps into what has parts, and over what has none. Nothing read here has more than 64 KiB. */
  const next = (tag: number): Buffer => {
    const first = der[at + 1] ?? 0;
    const lengthBytes = first < 0x80 ? 0 : first - 0x80;
    const begin = at + 2 + lengthBytes;
    if (der[at] !== tag || lengthBytes > 2 || begin > der.length) throw unsupportedEncryption();
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    at = tag === sequence ? begin : begin + length;
    return der.subarray(begin, begin + length);
  };
  next(sequence);
  next(sequence);
  if (!next(identifier).equals(pbes2)) throw unsupportedEncryption();
  next(sequence);
  next(sequence);
  if (!next(identifier).equals(pbkdf2)) throw unsupportedEncryption();
  next(sequence);
  next(octets);
  const iterations = next(integer);
  if (iterations.length > 4 || Number(`0x${iterations.toString("hex")}`) > maxIterations) {
    const mend = "encrypt it again with openssl pkcs8 -topk8";
    throw new Error(`ssh: decrypting the private key takes more than ${maxIterations} iterations of PBKDF2: ${mend}`);
  }
}

function unsupportedEncryption(): Error {
  return new Error(
    "ssh: the private key is encrypted in a way that is not supported: encrypt it again with openssl pkcs8 -topk8",
  );
}

/** An Ed25519 key in the format of OpenSSH, the only one in which the client reads such a key. */
function openSshText(key: KeyObject): string {
  const { x = "", d = "" } = key.export({ format: "jwk" });
  const [open, secret] = [Buffer.from(x, "base64url"), Buffer.from(d, "base64url")];
  const type = part(Buffer.from("ssh-ed25519"));
  const check = Buffer.alloc(8);
  const own = Buffer.concat([check, type, part(open), part(Buffer.concat([secret, open])), part(Buffer.alloc(0))]);
  const padding = Buffer.from(Array.from({ length: (8 - (own.length % 8)) % 8 }, (_, index) => index + 1));
  const none = part(Buffer.from("none"));
  const one = Buffer.from([0, 0, 0, 1]);
  const all = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    none,
    none,
    part(Buffer.alloc(0)),
    one,
    part(Buffer.concat([type, part(open)])),
    part(Buffer.concat([own, padding])),
  ]);
  return openSshArmor(all);
}

function openSshArmor(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,70}/g) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join("\n")}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function part(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
