import { z } from "zod";
import { jsonOf } from "../../registry-fault.ts";
import { checkedAttributes, type Envelope, EnvelopeFault, headers, maxChainCertificates } from "./envelope.ts";

/** The media type of a signature as JSON. */
export const jwsType = "application/jose+json";

const Time = z.string().transform((text, ctx) => {
  const at = Date.parse(text);
  if (Number.isNaN(at)) ctx.addIssue({ code: "custom", message: "must be a time" });
  return at;
});

const Jws = z.object({
  payload: z.string(),
  protected: z.string(),
  signature: z.string(),
  header: z.object({ x5c: z.array(z.string()).min(1).max(maxChainCertificates) }),
});
const Protected = z.object({
  alg: z.enum(["ES256", "ES384", "ES512", "PS256", "PS384", "PS512"]),
  cty: z.string(),
  crit: z.array(z.string()).max(100).default([]),
  [headers.expiry]: Time.optional(),
  [headers.scheme]: z.string(),
  [headers.signingTime]: Time.optional(),
  [headers.authenticSigningTime]: Time.optional(),
});

/** Reads a signature as JSON (RFC 7515, with Notation's headers). Throws an {@link EnvelopeFault}. */
export function readJws(bytes: Uint8Array): Envelope {
  const jws = Jws.safeParse(jsonOf(bytes)).data;
  if (jws === undefined) {
    throw new EnvelopeFault(`it is not a JWS with a chain of at most ${maxChainCertificates} certificates`);
  }
  const header = Protected.safeParse(jsonOf(Buffer.from(jws.protected, "base64url"))).data;
  if (header === undefined) throw new EnvelopeFault("jws envelope protected header can't be decoded");
  if (header.crit.length === 0) throw new EnvelopeFault('missing "crit" header');
  const attributes = checkedAttributes({
    scheme: header[headers.scheme],
    signingTime: header[headers.signingTime],
    authenticSigningTime: header[headers.authenticSigningTime],
    expiry: header[headers.expiry],
    critical: header.crit,
  });
  return {
    ...attributes,
    contentType: header.cty,
    payload: Buffer.from(jws.payload, "base64url"),
    algorithm: header.alg,
    signed: Buffer.from(`${jws.protected}.${jws.payload}`),
    signature: Buffer.from(jws.signature, "base64url"),
    chain: jws.header.x5c.map((certificate) => Buffer.from(certificate, "base64")),
  };
}
