import { createHash } from "node:crypto";
import { armor, enums, type PublicKey } from "openpgp";

/** A key of DSA whose numbers make no sense, and its signature, which proves nothing. In armor. */
export interface SenselessDsa {
  readonly ring: string;
  /** The ring of another key, of which this one is a subkey. */
  readonly ringOf: (primary: PublicKey) => string;
  readonly signature: string;
}

const dsa = 17;
const created = uint32(1_700_000_000);

/** The modulus and the order have so many bits, a multiple of 8. The signature has the right digest, so that its numbers count (RFC 9580, 5.2.3). */
export function senselessDsa(payload: Buffer, bits: number): SenselessDsa {
  const ones = (bytes: number): Buffer => Buffer.alloc(bytes, 0xff);
  const numbers = [ones(bits / 8), ones(bits / 8 - 1), ones(bits / 8 - 2), ones(bits / 8 - 3)].map(mpi);
  const key = Buffer.concat([Buffer.from([4]), created, Buffer.from([dsa]), ...numbers]);
  const fingerprint = digestOf("sha1", Buffer.from([0x99]), uint16(key.length), key);
  const hashed = subpacket(2, created);
  // The version, of a binary document, and SHA-512.
  const head = Buffer.concat([Buffer.from([4, 0, dsa, 10]), uint16(hashed.length), hashed]);
  const digest = digestOf("sha512", payload, head, Buffer.from([4, 0xff]), uint32(head.length));
  const issuer = subpacket(16, fingerprint.subarray(-8));
  const made = [mpi(ones(bits / 8 - 2)), mpi(Buffer.from([1]))];
  const signed = Buffer.concat([head, uint16(issuer.length), issuer, digest.subarray(0, 2), ...made]);
  const { publicKey, signature } = enums.armor;
  return {
    ring: armor(publicKey, packet(enums.packet.publicKey, key)),
    ringOf: (primary) => armor(publicKey, Buffer.concat([primary.write(), packet(enums.packet.publicSubkey, key)])),
    signature: armor(signature, packet(enums.packet.signature, signed)),
  };
}

function digestOf(hash: string, ...parts: readonly Buffer[]): Buffer {
  return createHash(hash).update(Buffer.concat(parts)).digest();
}

function packet(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0 | tag, 0xff]), uint32(body.length), body]);
}

function subpacket(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([content.length + 1, type]), content]);
}

/** A number whose first byte is not zero. */
function mpi(number: Buffer): Buffer {
  return Buffer.concat([uint16(8 * number.length - Math.clz32(number[0] ?? 0) + 24), number]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
