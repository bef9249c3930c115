import { createHmac } from "node:crypto";
import type { Secret } from "./secret.ts";

/**
 * Digest of a text under a key: `hmac-sha256:<64 lower-case hex>`. Equal texts have equal digests for one holder of the key,
 * and without the key a reader cannot try out which text it was.
 */
export function keyedDigest(key: Secret, text: string): string {
  return `hmac-sha256:${createHmac("sha256", key.reveal()).update(text).digest("hex")}`;
}
