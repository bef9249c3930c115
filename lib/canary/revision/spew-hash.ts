const fnvOffset = 0x811c9dc5;
const fnvPrime = 0x01000193;
const safeCharacters = "bcdfghjklmnpqrstvwxz2456789";

/** FNV-1a of 32 bits of a dump in UTF-8, its decimal digits spelled in the characters that Kubernetes puts into generated names. Pure. */
export function spewHash(dump: string): string {
  let sum = fnvOffset;
  for (const byte of Buffer.from(dump)) sum = Math.imul(sum ^ byte, fnvPrime);
  return Array.from(String(sum >>> 0), (digit) =>
    safeCharacters.charAt(digit.charCodeAt(0) % safeCharacters.length),
  ).join("");
}

/** A map as the dump has it, sorted by the bytes of its keys. Pure. */
export function dumpOfMap(entries: readonly (readonly [key: string, dump: string])[]): string {
  const sorted = entries.length < 2 ? entries : entries.toSorted(([a], [b]) => byBytes(a, b));
  return `map[${sorted.map(([key, dump]) => `${key}:${dump}`).join(" ")}]`;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
