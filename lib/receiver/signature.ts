import { createHmac, hash, timingSafeEqual } from "node:crypto";

// Whether a delivery was signed with the token. Each answers why it was not, without a byte of either, or undefined.

const algorithms: ReadonlySet<string> = new Set(["sha1", "sha256", "sha512"]);

/** A signature `<alg>=<hex>` over the body, as Flux takes it from generic-hmac, github and bitbucket (reference notifications 6). */
export function hmacFault(signature: string | undefined, token: Uint8Array, body: Uint8Array): string | undefined {
  if (signature === undefined || signature === "") return "the signature is missing";
  const [algorithm = "", ...rest] = signature.split("=");
  if (rest.length === 0) return "the signature is not <algorithm>=<hexadecimal digits>";
  const digits = rest.join("=");
  if (!algorithms.has(algorithm)) return "the algorithm of the signature is not sha1, sha256 or sha512";
  if (!/^([0-9a-fA-F]{2})*$/.test(digits)) return "the signature is not hexadecimal";
  const wanted = createHmac(algorithm, token).update(body).digest();
  return isEqual(Buffer.from(digits, "hex"), wanted) ? undefined : "the signature is not of this body and token";
}

/** Nexus' own: the lower-case digits of a SHA-1 without a prefix. */
export function nexusFault(signature: string | undefined, token: Uint8Array, body: Uint8Array): string | undefined {
  if (signature === undefined || signature === "") return "the signature is missing";
  const wanted = createHmac("sha1", token).update(body).digest("hex");
  return isEqual(Buffer.from(signature), Buffer.from(wanted))
    ? undefined
    : "the signature is not of this body and token";
}

/** A header that holds the token itself. Node hands out a header byte by byte, so that is how it is read. */
export function tokenFault(value: string | undefined, token: Uint8Array): string | undefined {
  if (value === undefined) return "the token is missing";
  return isEqual(Buffer.from(value, "latin1"), token) ? undefined : "the token is another";
}

/** In constant time, also for different lengths. */
function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"));
}
