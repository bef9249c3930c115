import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

/** A NATS key, made from its seed (`SU…`): an Ed25519 key that the server knows by its public key (`U…`). */
export interface NatsKey {
  readonly publicKey: string;
  /** Signs the nonce of a server, as base64url. */
  sign(nonce: string): string;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const seedPrefix = 18 << 3;
const seedBytes = 32;
/** DER of an Ed25519 private key in PKCS #8, up to its 32 bytes. */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Throws in the words of NATS' client if the text is no seed; the words quote nothing of it. */
export function natsKey(seed: string): NatsKey {
  const raw = fromBase32(seed.trim());
  const body = raw.subarray(0, -2);
  if (raw.length !== seedBytes + 4) throw new Error("nkeys: invalid encoded key");
  if (raw.readUInt16LE(raw.length - 2) !== crc16(body)) throw new Error("nkeys: invalid checksum");
  const [first = 0, second = 0] = body;
  if ((first & 248) !== seedPrefix) throw new Error("nkeys: invalid seed");
  const prefix = ((first & 7) << 5) | ((second & 248) >> 3);
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, body.subarray(2)]), format: "der", type: "pkcs8" });
  return {
    publicKey: encoded(prefix, publicBytes(key)),
    sign: (nonce) => sign(null, Buffer.from(nonce), key).toString("base64url"),
  };
}

function publicBytes(key: KeyObject): Uint8Array {
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-seedBytes);
}

function encoded(prefix: number, bytes: Uint8Array): string {
  const body = Buffer.concat([Uint8Array.of(prefix), bytes]);
  const checksum = Buffer.alloc(2);
  checksum.writeUInt16LE(crc16(body));
  return toBase32(Buffer.concat([body, checksum]));
}

/** CRC-16 as XMODEM has it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff;
  }
  return crc;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [bits, value] = [0, 0];
  for (const letter of text) {
    const digit = alphabet.indexOf(letter);
    if (digit === -1) throw new Error("nkeys: invalid encoded key");
    value = ((value << 5) | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 255);
  }
  return Buffer.from(bytes);
}

function toBase32(bytes: Uint8Array): string {
  let [text, bits, value] = ["", 0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31] ?? "";
  }
  return bits === 0 ? text : text + (alphabet[(value << (5 - bits)) & 31] ?? "");
}
