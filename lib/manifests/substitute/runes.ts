/** A code point of UTF-8 in bytes, as Go decodes it. */
export interface Rune {
  readonly code: number;
  /** In bytes. */
  readonly width: number;
  readonly isValid: boolean;
}

/** The code point that stands for a byte that does not begin one. */
export const invalidRune: Rune = { code: 0xfffd, width: 1, isValid: false };

/** The code point that begins at a byte. `bytes`: one character each (`latin1`). */
export function runeAt(bytes: string, at: number): Rune {
  const first = bytes.charCodeAt(at);
  if (first < 0x80) return { code: first, width: 1, isValid: true };
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (width === 1 || at + width > bytes.length) return invalidRune;
  const encoded = bytes.slice(at, at + width);
  const text = Buffer.from(encoded, "latin1").toString();
  const code = text.codePointAt(0) ?? invalidRune.code;
  return Buffer.from(text).toString("latin1") === encoded ? { code, width, isValid: true } : invalidRune;
}
