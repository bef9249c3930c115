import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { jsonOf } from "../registry-fault.ts";
import { SignatureFault } from "./signature-fault.ts";

/** The limit for the Rekor entry in an annotation, which has about 2 KB. */
export const maxRekorBundleBytes = 128 * 1024;

const Whole = z.number().int().nonnegative();

/** The annotation `dev.sigstore.cosign/bundle`: an entry of the log, and the log's promise to include it. */
const RekorBundle = z.object({
  SignedEntryTimestamp: z.string(),
  Payload: z.object({
    body: z.string(),
    integratedTime: Whole,
    logIndex: Whole,
    logID: z.string().regex(/^[0-9a-f]{64}$/),
  }),
});
export type RekorBundle = z.infer<typeof RekorBundle>;

/** The content of an entry, in the forms that Rekor writes for signatures of cosign. */
const Body = z.object({
  kind: z.string(),
  apiVersion: z.string(),
  spec: z.object({
    signature: z.object({ publicKey: z.object({ content: z.string() }).optional() }).optional(),
    signatures: z
      .array(z.object({ verifier: z.unknown() }))
      .max(10)
      .optional(),
  }),
});
export type EntryBody = z.infer<typeof Body>;

/** Reads the annotation. Throws a {@link SignatureFault}. */
export function parseRekorBundle(text: string): RekorBundle {
  if (text.length > maxRekorBundleBytes) throw new SignatureFault("error verifying bundle: it is too large");
  const parsed = RekorBundle.safeParse(jsonOf(Buffer.from(text)));
  if (!parsed.success) throw new SignatureFault("error verifying bundle: it is not an entry of a Rekor log");
  return parsed.data;
}

/** The content of an entry; undefined for one of another form. */
export function entryBody(body: Uint8Array): EntryBody | undefined {
  return Body.safeParse(jsonOf(body)).data;
}

/**
 * Whether an entry names the certificate that the signature comes with, or says nothing of one in a form that this knows. The log's
 * time counts for the certificate, so it has to be an entry of that one.
 */
export function namesCertificate({ spec }: EntryBody, certificate: X509Certificate): boolean {
  const named = [spec.signature?.publicKey?.content, ...(spec.signatures ?? []).map(({ verifier }) => verifier)];
  return named.every((one) => typeof one !== "string" || isSame(Buffer.from(one, "base64"), certificate));
}

function isSame(pem: Uint8Array, certificate: X509Certificate): boolean {
  try {
    return new X509Certificate(pem).raw.equals(certificate.raw);
  } catch {
    return false;
  }
}
