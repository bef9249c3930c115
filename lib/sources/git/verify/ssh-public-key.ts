import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { GitSignatureFault } from "./git-signature-fault.ts";
import { WireReader } from "./wire-reader.ts";

/** A public key of SSH that can verify signatures. */
export interface SshPublicKey {
  /** For example `ssh-ed25519`. */
  readonly type: string;
  /** As it stands in base64 in authorized_keys. Two keys are the same if their blobs are. */
  readonly blob: Buffer;
  /** Throws a {@link GitSignatureFault} unless `signature` (its format, then what the format says) is of `data` by this key. */
  verify(data: Buffer, signature: Buffer): void;
}

/** As `ssh-keygen -l` shows it. */
export function fingerprint({ blob }: SshPublicKey): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replaceAll("=", "")}`;
}

/** RSA keys below are within reach of an attacker; those above cost too much time. Both in bits. */
const rsaBits = { min: 2048, max: 8192 };

const curves = {
  nistp256: { crv: "P-256", hash: "sha256", bytes: 32 },
  nistp384: { crv: "P-384", hash: "sha384", bytes: 48 },
  nistp521: { crv: "P-521", hash: "sha512", bytes: 66 },
} as const;
type Curve = (typeof curves)[keyof typeof curves];

/** @throws {GitSignatureFault} for a key that is malformed, too weak, or of a type that signs nothing for us (DSA, certificates) */
export function parsePublicKey(blob: Buffer): SshPublicKey {
  const reader = new WireReader(blob);
  const type = reader.text();
  const key = keyOf(type, reader);
  if (!reader.isAtEnd) throw new GitSignatureFault("ssh: trailing junk in public key");
  return { type, blob, verify: (data, signature) => verifyBy(key, type, data, new WireReader(signature)) };
}

type Key =
  | { readonly kind: "ed25519"; readonly key: KeyObject; readonly application?: string }
  | { readonly kind: "ecdsa"; readonly key: KeyObject; readonly curve: Curve; readonly application?: string }
  | { readonly kind: "rsa"; readonly key: KeyObject };

function keyOf(type: string, reader: WireReader): Key {
  switch (type) {
    case "ssh-ed25519":
      return { kind: "ed25519", key: ed25519(reader) };
    case "sk-ssh-ed25519@openssh.com":
      return { kind: "ed25519", key: ed25519(reader), application: reader.text() };
    case "ecdsa-sha2-nistp256":
    case "ecdsa-sha2-nistp384":
    case "ecdsa-sha2-nistp521":
      return { kind: "ecdsa", ...ecdsa(type.slice("ecdsa-sha2-".length), reader) };
    case "sk-ecdsa-sha2-nistp256@openssh.com":
      return { kind: "ecdsa", ...ecdsa("nistp256", reader), application: reader.text() };
    case "ssh-rsa":
      return { kind: "rsa", key: rsa(reader) };
    default:
      throw new GitSignatureFault(`ssh: unknown key algorithm: ${JSON.stringify(type.slice(0, 100))}`);
  }
}

function ed25519(reader: WireReader): KeyObject {
  const bytes = reader.bytes();
  if (bytes.length !== 32) throw new GitSignatureFault(`invalid size ${bytes.length} for Ed25519 public key`);
  return imported({ kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") });
}

function ecdsa(name: string, reader: WireReader): { key: KeyObject; curve: Curve } {
  const curve = Object.entries(curves).find(([one]) => one === name && one === reader.text())?.[1];
  if (curve === undefined) throw new GitSignatureFault("ssh: unsupported curve");
  const point = reader.bytes();
  const isUncompressed = point[0] === 4 && point.length === 1 + 2 * curve.bytes;
  if (!isUncompressed) throw new GitSignatureFault("ssh: invalid curve point");
  const [x, y] = [point.subarray(1, 1 + curve.bytes), point.subarray(1 + curve.bytes)];
  return {
    key: imported({ kty: "EC", crv: curve.crv, x: x.toString("base64url"), y: y.toString("base64url") }),
    curve,
  };
}

function rsa(reader: WireReader): KeyObject {
  const [e, n] = [reader.positive(), reader.positive()];
  const bits = n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
  if (bits > rsaBits.max) throw new GitSignatureFault("ssh: rsa modulus too large");
  if (bits < rsaBits.min) {
    throw new GitSignatureFault(
      `ssh: an RSA key of ${bits} bits is too weak, it must have ${rsaBits.min} bits or more`,
    );
  }
  if (e.length > 3) throw new GitSignatureFault("ssh: exponent too large");
  const exponent = e.readUIntBE(0, e.length);
  if (exponent < 3 || exponent % 2 === 0) throw new GitSignatureFault("ssh: incorrect exponent");
  return imported({ kty: "RSA", n: n.toString("base64url"), e: e.toString("base64url") });
}

/** OpenSSL also refuses a point that is not on its curve. */
function imported(key: { kty: string; crv?: string; x?: string; y?: string; n?: string; e?: string }): KeyObject {
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch (error) {
    throw new GitSignatureFault(key.kty === "EC" ? "ssh: invalid curve point" : "ssh: invalid public key", {
      cause: error,
    });
  }
}

const rsaHashes: Readonly<Record<string, string>> = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" };

function verifyBy(key: Key, type: string, data: Buffer, signature: WireReader): void {
  const format = signature.text();
  // The key decides how it signs, never the signature: SHA-1 (`ssh-rsa`) proves nothing.
  const isRight = key.kind === "rsa" ? Object.hasOwn(rsaHashes, format) : format === type;
  if (!isRight) {
    throw new GitSignatureFault(`ssh: signature type ${JSON.stringify(format.slice(0, 100))} for key type ${type}`);
  }
  const value = signature.bytes();
  const application = key.kind === "rsa" ? undefined : key.application;
  const signed = application === undefined ? data : byHardware(application, data, signature);
  if (!signature.isAtEnd) throw new GitSignatureFault("ssh: trailing junk in signature");
  if (!isSignedBy(key, format, signed, value)) throw new GitSignatureFault("ssh: signature did not verify");
}

function isSignedBy(key: Key, format: string, signed: Buffer, value: Buffer): boolean {
  switch (key.kind) {
    case "ed25519":
      return verify(null, signed, key.key, value);
    case "ecdsa": {
      const { bytes, hash } = key.curve;
      const [r, s] = pair(value).map((one) => Buffer.concat([Buffer.alloc(Math.max(0, bytes - one.length)), one]));
      if (r?.length !== bytes || s?.length !== bytes) return false;
      return verify(hash, signed, { key: key.key, dsaEncoding: "ieee-p1363" }, Buffer.concat([r, s]));
    }
    case "rsa":
      return verify(rsaHashes[format], signed, key.key, value);
  }
}

function pair(value: Buffer): [Buffer, Buffer] {
  const reader = new WireReader(value);
  const numbers: [Buffer, Buffer] = [reader.positive(), reader.positive()];
  if (!reader.isAtEnd) throw new GitSignatureFault("ssh: trailing junk in signature");
  return numbers;
}

const userPresence = 0x01;

/** The bytes that a security key signs in place of `data` (OpenSSH, PROTOCOL.u2f). A user must have touched the key. */
function byHardware(application: string, data: Buffer, signature: WireReader): Buffer {
  const rest = signature.take(5);
  if (((rest[0] ?? 0) & userPresence) === 0) {
    throw new GitSignatureFault("ssh: signature missing required user presence flag");
  }
  const hash = (bytes: Buffer | string): Buffer => createHash("sha256").update(bytes).digest();
  return Buffer.concat([hash(application), rest, hash(data)]);
}
