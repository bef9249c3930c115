import { createPrivateKey, type KeyObject } from "node:crypto";
import type { ParsedKey } from "ssh2";
import { messageOf } from "../../core/failure.ts";

/** A private key that can be used. It is never shown: what it holds is only for the client of SSH. */
export type SshKey = ParsedKey;

/** The key is encrypted, and there is no passphrase. */
export class PassphraseMissing extends Error {
  override readonly name = "PassphraseMissing";
}

/** Decrypting takes about 10 ms for each, in which the process does nothing else. `ssh-keygen` sets 16 to 24. */
const maxRounds = 200;

/**
 * Reads a private key in the format of OpenSSH, or as PEM (PKCS#1, SEC1, PKCS#8). The passphrase counts only if the key is
 * encrypted. Throws {@link PassphraseMissing}, or an `Error` in Go's words, which quotes nothing of the key.
 */
export async function parseSshKey(text: string, passphrase: string): Promise<SshKey> {
  const type = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1];
  if (type === undefined) throw new Error("ssh: no key found");
  const isPkcs8 = type === "PRIVATE KEY" || type === "ENCRYPTED PRIVATE KEY";
  if (!isPkcs8 && !/^(?:OPENSSH|RSA|EC|DSA) PRIVATE KEY$/.test(type)) {
    throw new Error(`ssh: unsupported key type ${JSON.stringify(type)}`);
  }
  if (type === "OPENSSH PRIVATE KEY") assertFewRounds(text);
  const { default: ssh } = await import("ssh2");
  const readable = isPkcs8 ? withoutPkcs8(text, type, passphrase) : text.trim();
  let parsed: ParsedKey | Error;
  try {
    parsed = ssh.utils.parseKey(readable, passphrase === "" ? undefined : passphrase);
  } catch (error) {
    // A wrong passphrase may make anything of it.
    parsed = error instanceof Error ? error : new Error(messageOf(error));
  }
  if (parsed instanceof Error) throw keyFault(parsed);
  if (!parsed.isPrivateKey()) throw new Error("ssh: no key found");
  return parsed;
}

function keyFault({ message }: Error): Error {
  if (message.includes("no passphrase given")) {
    return new PassphraseMissing("ssh: this private key is passphrase protected");
  }
  if (/bad passphrase/i.test(message)) return new Error("x509: decryption password incorrect");
  return new Error("ssh: the private key is damaged, or of a kind that is not supported");
}

/** The salt and the rounds of bcrypt follow the names of the cipher and of the key derivation (PROTOCOL.key of OpenSSH). */
function assertFewRounds(text: string): void {
  const bytes = Buffer.from(text.replace(/-----[^-]+-----/g, ""), "base64");
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
  if (derivation !== "bcrypt" || options.length < 8) return;
  const rounds = options.readUInt32BE(options.length - 4);
  if (rounds <= maxRounds) return;
  const mend = `at most ${maxRounds} are supported: encrypt it anew with ssh-keygen -p -a 100`;
  throw new Error(`ssh: decrypting the private key takes ${rounds} rounds of bcrypt, and ${mend}`);
}

/** The same key in a format that the client of SSH reads. */
function withoutPkcs8(text: string, type: string, passphrase: string): string {
  if (type === "ENCRYPTED PRIVATE KEY" && passphrase === "") {
    throw new PassphraseMissing("ssh: this private key is passphrase protected");
  }
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text, ...(passphrase === "" ? {} : { passphrase }) });
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
  const lines = all.toString("base64").match(/.{1,70}/g) ?? [];
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join("\n")}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

function part(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
