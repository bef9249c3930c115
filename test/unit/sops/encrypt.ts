import { createCipheriv, createHash, randomBytes } from "node:crypto";
import type { KeySource } from "../../../lib/sops/key-source.ts";

/** The data key of all files that {@link encrypted} makes. */
export const dataKey = Buffer.alloc(32, 7);

/** Opens each recipient of age whose `enc` is the key itself, in base64. */
export const plainKeys: KeySource = {
  open: async (recipient) => (recipient.kind === "age" ? Buffer.from(recipient.enc, "base64") : undefined),
};

export const lastModified = "2026-01-02T03:04:05Z";

/** A value as sops writes it. */
export function encrypted(plain: string, path: string, type = "str"): string {
  const iv = randomBytes(32);
  const cipher = createCipheriv("aes-256-gcm", dataKey, iv);
  cipher.setAAD(Buffer.from(path));
  const data = Buffer.concat([cipher.update(plain), cipher.final()]);
  const [text, start, tag] = [data, iv, cipher.getAuthTag()].map((part) => part.toString("base64"));
  return `ENC[AES256_GCM,data:${text ?? ""},iv:${start ?? ""},tag:${tag ?? ""},type:${type}]`;
}

/** The MAC of values in their order. */
export function macOf(...values: readonly string[]): string {
  const digest = createHash("sha512").update(values.join("")).digest("hex").toUpperCase();
  return encrypted(digest, lastModified);
}

/** The metadata of a file, for {@link plainKeys}. */
export function sopsOf(mac: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const age = [{ recipient: "age1", enc: dataKey.toString("base64") }];
  return { age, lastmodified: lastModified, mac, version: "3.13.2", ...more };
}
