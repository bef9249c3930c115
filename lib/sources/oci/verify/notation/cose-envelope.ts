import { messageOf } from "../../../../core/failure.ts";
import { type Cbor, type CborMap, CborTag, readCbor } from "./cbor.ts";
import {
  type Algorithm,
  checkedAttributes,
  type Envelope,
  EnvelopeFault,
  headers,
  maxChainCertificates,
} from "./envelope.ts";

/** The media type of a signature as CBOR. */
export const coseType = "application/cose";

const sign1Tag = 18n;
const timeTag = 1n;
const labels = { algorithm: 1n, critical: 2n, contentType: 3n, chain: 33n } as const;
const algorithms: ReadonlyMap<Cbor | undefined, Algorithm> = new Map([
  [-7n, "ES256"],
  [-35n, "ES384"],
  [-36n, "ES512"],
  [-37n, "PS256"],
  [-38n, "PS384"],
  [-39n, "PS512"],
]);

/** Reads a signature as CBOR (RFC 9052, COSE_Sign1, with Notation's headers). Throws an {@link EnvelopeFault}. */
export function readCose(bytes: Uint8Array): Envelope {
  try {
    return read(bytes);
  } catch (error) {
    // Invalid CBOR, or a text that is not UTF-8.
    if (error instanceof RangeError || error instanceof TypeError) {
      throw new EnvelopeFault(messageOf(error), { cause: error });
    }
    throw error;
  }
}

function read(bytes: Uint8Array): Envelope {
  const message = readCbor(bytes);
  const parts = message instanceof CborTag && message.tag === sign1Tag ? message.value : undefined;
  if (!isList(parts) || parts.length !== 4) throw new EnvelopeFault("it is not a COSE_Sign1 message");
  const [rawProtected, unprotectedHeader, payload, signature] = parts;
  const isWhole = isBytes(rawProtected) && isMap(unprotectedHeader) && isBytes(payload) && isBytes(signature);
  if (!isWhole) throw new EnvelopeFault("it is not a COSE_Sign1 message with its payload");
  const header = readCbor(rawProtected);
  if (!isMap(header)) throw new EnvelopeFault("the protected header is not a map");
  const algorithm = algorithms.get(header.get(labels.algorithm));
  if (algorithm === undefined) throw new EnvelopeFault("signature algorithm not supported");
  const contentType = header.get(labels.contentType);
  if (typeof contentType !== "string") throw new EnvelopeFault("content type should be of 'tstr' type");
  const attributes = checkedAttributes({
    scheme: header.get(headers.scheme),
    signingTime: timeOf(header.get(headers.signingTime)),
    authenticSigningTime: timeOf(header.get(headers.authenticSigningTime)),
    expiry: timeOf(header.get(headers.expiry)),
    critical: criticalOf(header.get(labels.critical)),
  });
  return {
    ...attributes,
    contentType,
    payload,
    algorithm,
    signed: Buffer.concat([
      Buffer.from([0x84]),
      head(3, "Signature1".length),
      Buffer.from("Signature1"),
      head(2, rawProtected.length),
      rawProtected,
      head(2, 0),
      head(2, payload.length),
      payload,
    ]),
    signature,
    chain: chainOf(unprotectedHeader.get(labels.chain)),
  };
}

function isList(value: Cbor | undefined): value is readonly Cbor[] {
  return Array.isArray(value);
}

function isMap(value: Cbor | undefined): value is CborMap {
  return value instanceof Map;
}

function isBytes(value: Cbor | undefined): value is Uint8Array {
  return value instanceof Uint8Array;
}

function timeOf(value: Cbor | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (value instanceof CborTag && value.tag === timeTag && typeof value.value === "bigint") {
    return Number(value.value) * 1_000;
  }
  throw new EnvelopeFault("a time is not in CBOR's form, in whole seconds");
}

/** A critical label that is not a text is unknown. */
function criticalOf(value: Cbor | undefined): readonly string[] {
  if (!isList(value)) throw new EnvelopeFault("invalid critical headers");
  return value.map((label) => (typeof label === "string" ? label : "a label of another type"));
}

function chainOf(value: Cbor | undefined): readonly Uint8Array[] {
  if (!isList(value) || value.length === 0 || !value.every(isBytes)) {
    throw new EnvelopeFault("certificate chain is not present");
  }
  if (value.length > maxChainCertificates) {
    throw new EnvelopeFault(`it has a chain of more than ${maxChainCertificates} certificates`);
  }
  return value;
}

/** The first bytes of a text (3) or of bytes (2) of this length, as short as they can be. */
function head(major: number, length: number): Buffer {
  const type = major << 5;
  if (length < 24) return Buffer.from([type | length]);
  if (length < 0x100) return Buffer.from([type | 24, length]);
  if (length < 0x1_0000) return Buffer.from([type | 25, length >> 8, length & 0xff]);
  const long = Buffer.alloc(5);
  long[0] = type | 26;
  long.writeUInt32BE(length, 1);
  return long;
}
