import { SopsFault } from "./sops-fault.ts";

/**
 * Puts a secret together from shares (HashiCorp's form of Shamir's scheme, as sops uses it): each share has one byte more than
 * the secret, its last one, which says which share it is.
 */
export function combineShares(shares: readonly Uint8Array[]): Uint8Array {
  const length = shares[0]?.length ?? 0;
  if (shares.length < 2) throw fault("less than two parts cannot be used to reconstruct the secret");
  if (length < 2) throw fault("parts must be at least two bytes");
  if (shares.some((share) => share.length !== length)) throw fault("all parts must be the same length");
  const xs = shares.map((share) => share[length - 1] ?? 0);
  if (new Set(xs).size < xs.length) throw fault("duplicate part detected");
  const weights = xs.map((x, index) => weightAtZero(xs, x, index));
  return Uint8Array.from({ length: length - 1 }, (_, at) =>
    shares.reduce((sum, share, index) => sum ^ multiply(share[at] ?? 0, weights[index] ?? 0), 0),
  );
}

function fault(text: string): SopsFault {
  return new SopsFault(`could not get data key from shamir parts: ${text}`);
}

/** Lagrange's weight of the share at 0, in GF(2^8). */
function weightAtZero(xs: readonly number[], x: number, index: number): number {
  return xs.reduce((weight, other, at) => (at === index ? weight : multiply(weight, divide(other, x ^ other))), 1);
}

/** In GF(2^8) the 254th power is the inverse. */
function divide(a: number, b: number): number {
  let inverse = 1;
  for (let power = 0; power < 254; power++) inverse = multiply(inverse, b);
  return multiply(a, inverse);
}

/** Multiplies modulo the polynomial of AES. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (((product << 1) & 0xff) ^ (product & 0x80 ? 0x1b : 0) ^ ((b >> bit) & 1 ? a : 0)) & 0xff;
  }
  return product;
}
