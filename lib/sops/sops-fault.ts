/**
 * Why something cannot be decrypted, in the words of sops or Flux where they have some. Holds no plaintext and no key material,
 * also not in its cause, and ciphertext only as `<redacted>`.
 */
export class SopsFault extends Error {
  override readonly name = "SopsFault";
}
