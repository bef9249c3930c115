import { X509Certificate } from "node:crypto";
import { X509Certificate as Certificate } from "@sigstore/core";
import { cutText } from "../../../../core/cut-text.ts";
import { type Algorithm, EnvelopeFault } from "./envelope.ts";

/** A certificate, once for Node's checks and once for the extensions that Node does not show. */
export interface ChainCertificate {
  readonly x509: X509Certificate;
  readonly parsed: Certificate;
}

/** The limit for one certificate, which has about 1 KB. */
export const maxCertificateBytes = 32 * 1024;
const maxQuotedBytes = 200;
const crlExtension = "2.5.29.31";
const extendedUsage = "2.5.29.37";
/** Uses that a certificate for signing code must not have (notation-core-go): TLS, e-mail, timestamps, OCSP. */
const excludedUses: ReadonlySet<string> = new Set([1, 2, 4, 8, 9].map((use) => `1.3.6.1.5.5.7.3.${use}`));

/** Reads DER. Throws an {@link EnvelopeFault}. */
export function readCertificate(der: Uint8Array): ChainCertificate {
  if (der.length > maxCertificateBytes) {
    throw new EnvelopeFault(`a certificate has more than ${maxCertificateBytes} bytes`);
  }
  try {
    return { x509: new X509Certificate(der), parsed: Certificate.parse(Buffer.from(der)) };
  } catch (error) {
    throw new EnvelopeFault("malformed certificate", { cause: error });
  }
}

/** The subject of a certificate, for messages: `"CN=a,O=b"`. */
export function shownSubject({ x509 }: ChainCertificate): string {
  return JSON.stringify(cutText(x509.subject.replaceAll("\n", ","), maxQuotedBytes));
}

/**
 * Checks that a chain is one for signing code: each certificate signed by the next, the last by itself, and each fit for its part.
 * Whether it is trusted, and when it is valid, is not checked here. Throws an {@link EnvelopeFault} in Notation's words.
 */
export function checkChain(chain: readonly ChainCertificate[]): void {
  const [leaf] = chain;
  if (leaf === undefined) throw invalid("certificate chain must contain at least one certificate");
  // A single certificate is its own authority, and is not marked as one.
  if (chain.length === 1) {
    const { x509, parsed } = leaf;
    const isOwn = parsed.subject.equals(parsed.issuer) && x509.verify(x509.publicKey);
    if (!isOwn) throw invalid(`invalid self-signed certificate. subject: ${shownSubject(leaf)}`);
    checkLeaf(leaf);
    return;
  }
  for (const [index, certificate] of chain.entries()) {
    const issuer = chain[index + 1];
    const isSelfSigned = isIssuedBy(certificate, certificate);
    const subject = shownSubject(certificate);
    if (issuer === undefined && !isSelfSigned) {
      const rule = "Certificate chain must end with a valid self-signed root certificate";
      throw invalid(`root certificate with subject ${subject} is not self-signed. ${rule}`);
    }
    if (issuer !== undefined && isSelfSigned) {
      const part = index === 0 ? "leaf" : "intermediate";
      const rule = `Certificate chain must not contain self-signed ${part} certificate`;
      throw invalid(`${part} certificate with subject ${subject} is self-signed. ${rule}`);
    }
    if (issuer !== undefined && !isIssuedBy(certificate, issuer)) {
      throw invalid(`certificate with subject ${subject} is not issued by ${shownSubject(issuer)}`);
    }
    if (index === 0) checkLeaf(certificate);
    else checkAuthority(certificate, index - 1);
  }
}

function isIssuedBy({ x509 }: ChainCertificate, issuer: ChainCertificate): boolean {
  return x509.checkIssued(issuer.x509) && x509.verify(issuer.x509.publicKey);
}

function checkLeaf(certificate: ChainCertificate): void {
  const { x509, parsed } = certificate;
  const subject = shownSubject(certificate);
  if (x509.ca) throw invalid(`certificate with subject ${subject}: the ca field must be set to false`);
  const usage = keyUsage(certificate);
  if (!usage.digitalSignature) {
    const rule = 'The key usage must have the bit positions for "Digital Signature" set';
    throw invalid(`the certificate with subject ${subject} is invalid. ${rule}`);
  }
  if (usage.keyCertSign || usage.crlSign) {
    throw invalid(`the certificate with subject ${subject} is invalid. The key usage must be "Digital Signature" only`);
  }
  // Node calls the extended key usage so.
  const uses = parsed.extension(extendedUsage) === undefined ? [] : x509.keyUsage;
  const excluded = uses.find((use) => excludedUses.has(use));
  if (excluded !== undefined) {
    throw invalid(`certificate with subject ${subject}: extended key usage must not contain ${excluded} eku`);
  }
  if (parsed.version !== "v3") throw invalid(`certificate with subject ${subject} is not of version 3`);
}

function checkAuthority(certificate: ChainCertificate, below: number): void {
  const subject = shownSubject(certificate);
  const constraints = certificate.parsed.extBasicConstraints;
  if (constraints?.isCA !== true) {
    throw invalid(`certificate with subject ${subject}: ca field in basic constraints must be present and set to true`);
  }
  const length = constraints.pathLenConstraint;
  if (length !== undefined && length < below) {
    const got = `expected path length of ${below} but certificate has path length ${length} instead`;
    throw invalid(`certificate with subject ${subject}: ${got}`);
  }
  if (!keyUsage(certificate).keyCertSign) {
    const rule = "key usage must have the bit positions for key cert sign set";
    throw invalid(`certificate with subject ${subject}: ${rule}`);
  }
}

function keyUsage(certificate: ChainCertificate) {
  const usage = certificate.parsed.extKeyUsage;
  const subject = shownSubject(certificate);
  if (usage === undefined) throw invalid(`certificate with subject ${subject}: key usage extension must be present`);
  if (!usage.critical) {
    throw invalid(`certificate with subject ${subject}: key usage extension must be marked critical`);
  }
  return usage;
}

const rsaAlgorithms: ReadonlyMap<number | undefined, Algorithm> = new Map([
  [2048, "PS256"],
  [3072, "PS384"],
  [4096, "PS512"],
]);
const curveAlgorithms: ReadonlyMap<string | undefined, Algorithm> = new Map([
  ["prime256v1", "ES256"],
  ["secp384r1", "ES384"],
  ["secp521r1", "ES512"],
]);

/** The one algorithm that Notation allows for the key of a certificate. Throws an {@link EnvelopeFault} for a key that has none. */
export function algorithmOf({ x509 }: ChainCertificate): Algorithm {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = x509.publicKey;
  const found =
    type === "rsa"
      ? rsaAlgorithms.get(details?.modulusLength)
      : type === "ec"
        ? curveAlgorithms.get(details?.namedCurve)
        : undefined;
  if (found === undefined) throw invalid("the key type or size of the signing certificate is not supported");
  return found;
}

/** Whether a certificate names an OCSP server or a revocation list. Neither is asked. */
export function isRevocable({ x509, parsed }: ChainCertificate): boolean {
  return /^OCSP - /m.test(x509.infoAccess ?? "") || parsed.extension(crlExtension) !== undefined;
}

function invalid(why: string): EnvelopeFault {
  return new EnvelopeFault(`certificate-chain is invalid, ${why}`);
}
