import { hash } from "node:crypto";
import { z } from "zod";

/** Content address: `sha256:<64 lower-case hex>`. Only {@link Digest.parse} and {@link digestOf} make one. */
export const Digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 lower-case hexadecimal digits")
  .brand<"Digest">();
export type Digest = z.infer<typeof Digest>;

/** The digest of these bytes, or of a text's UTF-8. */
export function digestOf(content: string | Uint8Array): Digest {
  return Digest.parse(`sha256:${hash("sha256", content)}`);
}
