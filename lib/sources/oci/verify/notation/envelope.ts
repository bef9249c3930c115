/** An algorithm by its name in JWS; RSA is PSS with a salt as long as the hash. */
export type Algorithm = "ES256" | "ES384" | "ES512" | "PS256" | "PS384" | "PS512";

/** Who vouches for the time of a signature: its maker, or an authority that signs for others. */
export type SigningScheme = "notary.x509" | "notary.x509.signingAuthority";

/** The limit for a signature of Notation with its certificates and a timestamp, which has about 10 KB. */
export const maxEnvelopeBytes = 512 * 1024;
/** Certificates in a signature: that of the signer, the authority's, and what is between. */
export const maxChainCertificates = 10;

/** A signature of Notation, whatever its encoding: read, and not verified yet. */
export interface Envelope {
  readonly contentType: string;
  readonly payload: Uint8Array;
  readonly algorithm: Algorithm;
  /** The bytes that are signed. */
  readonly signed: Uint8Array;
  /** ECDSA as two numbers side by side (P1363). */
  readonly signature: Uint8Array;
  readonly scheme: SigningScheme;
  /** Milliseconds since 1970. */
  readonly signingTime: number;
  readonly expiry: number | undefined;
  /** Further signed attributes that a reader has to understand. */
  readonly criticalAttributes: readonly string[];
  /** DER, from the signer's to the root. */
  readonly chain: readonly Uint8Array[];
}

/** An envelope that cannot be read. */
export class EnvelopeFault extends Error {
  override readonly name = "EnvelopeFault";
}

export const headers = {
  expiry: "io.cncf.notary.expiry",
  scheme: "io.cncf.notary.signingScheme",
  signingTime: "io.cncf.notary.signingTime",
  authenticSigningTime: "io.cncf.notary.authenticSigningTime",
} as const;

const ownCritical: ReadonlySet<string> = new Set([headers.expiry, headers.scheme, headers.authenticSigningTime]);

/** The signed attributes of an envelope, as both encodings hold them. */
export interface Attributes {
  readonly scheme: unknown;
  readonly signingTime: number | undefined;
  readonly authenticSigningTime: number | undefined;
  readonly expiry: number | undefined;
  readonly critical: readonly string[];
}

/** Checks what both encodings have to hold. Throws an {@link EnvelopeFault} in Notation's words. */
export function checkedAttributes(
  attributes: Attributes,
): Pick<Envelope, "criticalAttributes" | "expiry" | "scheme" | "signingTime"> {
  const { scheme, expiry, critical } = attributes;
  if (scheme !== "notary.x509" && scheme !== "notary.x509.signingAuthority") {
    throw new EnvelopeFault("unsupported SigningScheme");
  }
  const isByMaker = scheme === "notary.x509";
  const unwanted = isByMaker ? attributes.authenticSigningTime : attributes.signingTime;
  if (unwanted !== undefined) {
    const header = isByMaker ? headers.authenticSigningTime : headers.signingTime;
    throw new EnvelopeFault(`"${header}" header must not be present for ${scheme} signing scheme`);
  }
  const signingTime = isByMaker ? attributes.signingTime : attributes.authenticSigningTime;
  if (signingTime === undefined) throw new EnvelopeFault("signing-time not present");
  if (expiry !== undefined && expiry <= signingTime) {
    throw new EnvelopeFault("expiry cannot be equal or before the signing time");
  }
  const required = [
    headers.scheme,
    ...(expiry === undefined ? [] : [headers.expiry]),
    ...(isByMaker ? [] : [headers.authenticSigningTime]),
  ];
  const missing = required.filter((header) => !critical.includes(header));
  if (missing.length > 0) {
    throw new EnvelopeFault(`these required headers are not marked as critical: [${missing.join(" ")}]`);
  }
  return { scheme, signingTime, expiry, criticalAttributes: critical.filter((header) => !ownCritical.has(header)) };
}
