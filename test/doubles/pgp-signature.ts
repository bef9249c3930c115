import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

/** The creation time of all keys and signatures in the recordings, in seconds since 1970: 2026-01-01. */
const created = Date.parse("2026-01-01T00:00:00Z") / 1000;
const ed25519 = Buffer.from([9, 0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1]);

/** The Ed25519 key of a name of the given recordings, whose seed is the SHA-256 of the name. */
function keyOf(name: string): KeyObject {
  const seed = createHash("sha256").update(name).digest();
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

/** The fingerprint of the OpenPGP key of a name (RFC 9580, section 5.5.4.1): version 4, EdDSALegacy. */
export function pgpFingerprint(name: string): Buffer {
  const point = createPublicKey(keyOf(name)).export({ format: "der", type: "spki" }).subarray(-32);
  const key = Buffer.concat([
    Buffer.from([4]),
    uint32(created),
    Buffer.from([22]),
    ed25519,
    Buffer.from([1, 7, 0x40]),
    point,
  ]);
  return createHash("sha1")
    .update(Buffer.from([0x99, 0, key.length]))
    .update(key)
    .digest();
}

/** A detached OpenPGP signature (version 4, EdDSALegacy, SHA-256) by the key of a name, byte for byte as in the given recordings. */
export function pgpSignature(name: string, payload: Buffer): string {
  const fingerprint = pgpFingerprint(name);
  const subpackets = Buffer.concat([Buffer.from([5, 2]), uint32(created), Buffer.from([22, 33, 4]), fingerprint]);
  const head = Buffer.concat([Buffer.from([4, 0, 22, 8, 0, subpackets.length]), subpackets]);
  const trailer = Buffer.concat([Buffer.from([4, 0xff]), uint32(head.length)]);
  const digest = createHash("sha256").update(payload).update(head).update(trailer).digest();
  const value = sign(null, digest, keyOf(name));
  const issuer = Buffer.concat([Buffer.from([0, 10, 9, 16]), fingerprint.subarray(12)]);
  const numbers = [value.subarray(0, 32), value.subarray(32)].map(numberOf);
  const body = Buffer.concat([head, issuer, digest.subarray(0, 2), ...numbers]);
  const packet = Buffer.concat([Buffer.from([0xc2, body.length]), body]);
  const lines = packet.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN PGP SIGNATURE-----\n\n${lines.join("\n")}\n=${checksum(packet)}\n-----END PGP SIGNATURE-----\n`;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** CRC-24 (RFC 9580, section 6.1). */
function checksum(bytes: Buffer): string {
  let crc = 0xb704ce;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb;
    }
  }
  return uint32(crc & 0xffffff)
    .subarray(1)
    .toString("base64");
}

/** A number of OpenPGP: its bits, then its bytes without leading zeros. */
function numberOf(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = bytes.subarray(first);
  const bits = Buffer.alloc(2);
  bits.writeUInt16BE(digits.length * 8 - Math.clz32(digits[0] ?? 0) + 24);
  return Buffer.concat([bits, digits]);
}
