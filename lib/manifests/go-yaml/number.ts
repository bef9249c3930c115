/** The range of go-yaml's integers; a larger number is a float. */
const [minInteger, maxInteger] = [-(2n ** 63n), 2n ** 64n - 1n];

/** What kustomize makes of an integer: it keeps every digit of 64 bits, and only of these. */
export function goInteger(integer: bigint): number | bigint {
  const double = Number(integer);
  return Number.isSafeInteger(double) || integer < minInteger || integer > maxInteger ? double : integer;
}

/** What kustomize makes of a float: between its two readers it is JSON, in which a whole one is an integer. */
export function goFloat(float: number): number | bigint {
  const json = String(float);
  return /^-?\d+$/.test(json) ? goInteger(BigInt(json)) : float;
}

/** A number as go-yaml v2 prints it. */
export function numberText(value: number | bigint): string {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value === 0 ? 0 : value);
  // Go's shortest form of a double: with an exponent below 1e-4 and from six digits before the point on.
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
