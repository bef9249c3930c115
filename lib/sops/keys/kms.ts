import { z } from "zod";
import { DataKeyError, type DataKeys, type KeyIdentity } from "../../core/ports/data-keys.ts";
import { Secret } from "../../core/secret.ts";
import type { KeySource } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";

const what = "failed to decrypt sops data key with AWS KMS";

/**
 * Opens recipients of kind `kms`. Region, key, role and encryption context are those of the recipient; `identity` says who asks.
 * A profile (`aws_profile`) is one of the machine that has encrypted the file, so it is not looked at.
 */
export function kmsKeySource(dataKeys: DataKeys, identity: (signal: AbortSignal) => Promise<KeyIdentity>): KeySource {
  return {
    async open(recipient, signal) {
      if (recipient.kind !== "kms") return undefined;
      const { arn, role, context, enc } = recipient;
      const ciphertext = Buffer.from(enc, "base64");
      if (ciphertext.toString("base64") !== enc) throw new SopsFault("error base64-decoding encrypted data key");
      try {
        const sealed = { sealedBy: arn, role, ciphertext, context };
        const opened = await dataKeys.open(sealed, await identity(signal), signal);
        return Buffer.from(opened.reveal(), "base64");
      } catch (error) {
        if (!(error instanceof DataKeyError)) throw error;
        throw new SopsFault(`${what}: ${error.message}`);
      }
    },
  };
}

const StaticCredentials = z.object({
  aws_access_key_id: z.string().default(""),
  aws_secret_access_key: z.string().default(""),
  aws_session_token: z.string().default(""),
});

/** The entry `sops.aws-kms` of a decryption Secret. Throws a {@link SopsFault} that quotes no value. */
export async function readStaticCredentials(text: string): Promise<KeyIdentity> {
  const { loadAll } = await import("js-yaml");
  const failed = (why: string) => new SopsFault(`failed to unmarshal AWS credentials file: ${why}`);
  let document: unknown;
  try {
    [document] = loadAll(text);
  } catch {
    throw failed("it is not YAML");
  }
  const parsed = StaticCredentials.safeParse(document ?? {});
  if (!parsed.success) throw failed("it must be a mapping with aws_access_key_id and aws_secret_access_key, as text");
  const { aws_access_key_id: id, aws_secret_access_key: key, aws_session_token: token } = parsed.data;
  if (id === "" || key === "") throw failed("aws_access_key_id and aws_secret_access_key must not be empty");
  const sessionToken = token === "" ? undefined : new Secret(token);
  return { kind: "static", accessKeyId: id, secretAccessKey: new Secret(key), sessionToken };
}
