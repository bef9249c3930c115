import { isUtf8 } from "node:buffer";
import { createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { goTime } from "./go-values.ts";
import { SopsFault } from "./sops-fault.ts";
import { type Scalar, SopsComment, SopsTime } from "./tree.ts";

/** Base64 holds no comma, so there is one way to read a value. Linear in its length. */
const encryptedValue =
  /^ENC\[AES256_GCM,data:([A-Za-z0-9+/=]+),iv:([A-Za-z0-9+/=]+),tag:([A-Za-z0-9+/=]+),type:([a-z0-9]+)\]/;

const keyBytes = 32;
/** sops writes 32. */
const maxIvBytes = 64;
/** A shorter tag could be guessed: Node would accept four bytes. */
const tagBytes = 16;

/** In the words of sops: not a value of its format, and one that is not what was encrypted at this place with this key. */
export const notEncrypted = "Input string <redacted> does not match sops' data format";
export const notAuthentic = "Could not decrypt with AES_GCM: cipher: message authentication failed";

/** Whether a text looks like a value that sops has encrypted. */
export function isEncryptedValue(text: string): boolean {
  return encryptedValue.test(text);
}

/**
 * Decrypts one value. `path` is what the value is bound to: the keys of all mappings above it, each with a colon behind it.
 * Throws a {@link SopsFault} without the text, whether it is ciphertext or not.
 */
export function decryptValue(text: string, dataKey: Uint8Array, path: string): Scalar | SopsComment {
  if (text === "") return "";
  const [, data, iv, tag, type] = encryptedValue.exec(text) ?? [];
  if (data === undefined || iv === undefined || tag === undefined || type === undefined) {
    throw new SopsFault(notEncrypted);
  }
  if (dataKey.length !== keyBytes) throw new SopsFault(`crypto/aes: invalid key size ${dataKey.length}`);
  const plain = open(Buffer.from(data, "base64"), Buffer.from(iv, "base64"), Buffer.from(tag, "base64"), dataKey, path);
  return typed(plain, type);
}

/** Made once for a data key: Node takes five times as long to decrypt a value with the bytes of a key. They go with the data key. */
const preparedKeys = new WeakMap<Uint8Array, KeyObject>();

function prepared(dataKey: Uint8Array): KeyObject {
  const known = preparedKeys.get(dataKey) ?? createSecretKey(dataKey);
  preparedKeys.set(dataKey, known);
  return known;
}

function open(data: Buffer, iv: Buffer, tag: Buffer, dataKey: Uint8Array, path: string): Buffer {
  if (tag.length !== tagBytes || iv.length === 0 || iv.length > maxIvBytes) throw new SopsFault(notAuthentic);
  try {
    const decipher = createDecipheriv("aes-256-gcm", prepared(dataKey), iv, { authTagLength: tagBytes });
    decipher.setAuthTag(tag);
    decipher.setAAD(Buffer.from(path));
    const plain = decipher.update(data);
    decipher.final();
    return plain;
  } catch {
    throw new SopsFault(notAuthentic);
  }
}

/** Go's value of the type. What cannot be read is not shown: it is plaintext. */
function typed(plain: Buffer, type: string): Scalar | SopsComment {
  if (type === "bytes") return plain;
  // A binary file is a text for sops, whatever its bytes are.
  if (type === "str") return isUtf8(plain) ? plain.toString("utf8") : plain;
  const text = plain.toString("utf8");
  switch (type) {
    case "comment":
      return new SopsComment(text, false);
    case "int":
      return integer(text);
    case "float":
      return float(text);
    case "bool":
      return boolean(text);
    case "time": {
      const time = goTime(text);
      if (time === undefined) throw unreadable(type);
      return new SopsTime(time.nano);
    }
    default:
      throw new SopsFault(`Unknown datatype: ${type}`);
  }
}

function integer(text: string): bigint {
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) throw unreadable("int");
  const value = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, value) !== value) throw unreadable("int");
  return value;
}

function float(text: string): number {
  const named = infinities.get(text.toLowerCase());
  if (named !== undefined) return named;
  const value = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw unreadable("float");
  return value;
}

const infinities: ReadonlyMap<string, number> = new Map([
  ...["inf", "+inf", "infinity", "+infinity"].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...["-inf", "-infinity"].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
  ["nan", Number.NaN],
]);

function boolean(text: string): boolean {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  throw unreadable("bool");
}

function unreadable(type: string): SopsFault {
  return new SopsFault(`a decrypted value does not hold what its type ${type} says`);
}
