import { createHmac, hash } from "node:crypto";
import { z } from "zod";
import type { Secret } from "./secret.ts";

/** Content address: `sha256:<64 lower-case hex>`. Only `Digest.parse` and {@link digestOf} make one. */
export const Digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 lower-case hexadecimal digits")
  .brand<"Digest">();
export type Digest = z.infer<typeof Digest>;

/** The digest of these bytes, or of the UTF-8 of a text. */
export function digestOf(content: string | Uint8Array): Digest {
  return Digest.parse(`sha256:${hash("sha256", content)}`);
}

/**
 * Digest of a text under a key: `hmac-sha256:<64 lower-case hex>`. Under the same key equal texts have equal digests; without
 * the key a reader cannot guess the text and check the guess.
 */
export function keyedDigest(key: Secret, text: string): string {
  return `hmac-sha256:${createHmac("sha256", key.reveal()).update(text).digest("hex")}`;
}
