import { constants, verify } from "node:crypto";
import { z } from "zod";
import { messageOf } from "../../../../core/failure.ts";
import { jsonOf } from "../../registry-fault.ts";
import { SignatureFault } from "../signature-fault.ts";
import type { Checking, SignedArtifact } from "../signed-artifact.ts";
import {
  algorithmOf,
  type ChainCertificate,
  checkChain,
  isRevocable,
  readCertificate,
  shownSubject,
} from "./certificate-chain.ts";
import { coseType, readCose } from "./cose-envelope.ts";
import { isWithin, parseDistinguishedName, parseSubject } from "./distinguished-name.ts";
import { type Envelope, EnvelopeFault, maxEnvelopeBytes } from "./envelope.ts";
import { jwsType, readJws } from "./jws-envelope.ts";
import { type Applicable, applicableStatement, type TrustPolicy } from "./trust-policy.ts";
import { trustedCertificates } from "./trusted-certificates.ts";

/** Signatures of one artifact that are tried, as in Flux. */
export const maxNotationSignatures = 3;

const signatureType = "application/vnd.cncf.notary.signature";
const payloadType = "application/vnd.cncf.notary.payload.v1+json";

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const Referrer = z.object({ digest: Digest, artifactType: z.literal(signatureType) });
const Manifest = z.object({ layers: z.array(z.object({ mediaType: z.string(), digest: Digest })).length(1) });
const Payload = z.object({
  targetArtifact: z.object({ mediaType: z.string(), digest: z.string(), size: z.number() }),
});
type Target = z.infer<typeof Payload>["targetArtifact"];

/** Whom signatures of Notation are trusted from. */
export interface NotationTrust {
  readonly policy: TrustPolicy;
  /** The PEM of every trust store, by their names in the Secret. */
  readonly certificates: ReadonlyMap<string, string>;
}

/**
 * Verifies an artifact by Notation (reference sources 3.6). Neither OCSP nor revocation lists are asked, and timestamps of an authority are
 * not read: where the policy enforces what they would show, the signature does not count.
 *
 * @returns `ignored` where the statement of the policy skips, or only logs that the signer is not trusted
 * @throws {SignatureFault} with Notation's text; an error of the registry as it comes
 */
export async function verifyNotation(
  artifact: SignedArtifact,
  { policy, certificates }: NotationTrust,
  checking: Checking,
): Promise<"ignored" | "verified"> {
  const statement = applicableStatement(policy, artifact.reference);
  if (statement.isSkipped) return "ignored";
  const trusted = trustedCertificates(certificates);
  const { repository, digest, registry, reference } = artifact;
  const { signal } = checking;
  const signatures = (await registry.referrers(repository, digest, signal)).flatMap(
    (one) => Referrer.safeParse(one).data?.digest ?? [],
  );
  if (signatures.length === 0) {
    const why = `no signature is associated with ${JSON.stringify(reference)}`;
    throw new SignatureFault(`${why}, make sure the artifact was signed successfully`);
  }
  const { bytes, mediaType } = await registry.manifest(repository, digest, signal);
  const target = { mediaType: mediaType.split(";", 1).join("").trim(), digest, size: bytes.length };
  const faults: string[] = [];
  for (const signature of signatures.slice(0, maxNotationSignatures)) {
    try {
      const envelope = await readEnvelope(signature, artifact, signal);
      return checkedSignature(envelope, { target, statement, trusted, checking });
    } catch (error) {
      if (!(error instanceof EnvelopeFault || error instanceof SignatureFault)) throw error;
      faults.push(`failed to verify signature with digest ${signature}, ${messageOf(error)}`);
      checking.refused(faults.at(-1) ?? "");
    }
  }
  if (signatures.length >= maxNotationSignatures) {
    const why = `The configured limit of ${maxNotationSignatures} signatures to verify per artifact exceeded`;
    throw new SignatureFault(`signature evaluation stopped. ${why}`);
  }
  throw new SignatureFault(["signature verification failed", ...faults].join("\n"));
}

async function readEnvelope(
  signature: string,
  { repository, registry }: SignedArtifact,
  signal: AbortSignal,
): Promise<Envelope> {
  const { bytes } = await registry.manifest(repository, signature, signal);
  const [layer] = Manifest.safeParse(jsonOf(bytes)).data?.layers ?? [];
  if (layer === undefined) throw new EnvelopeFault("signature manifest requires exactly one signature envelope blob");
  const { mediaType } = layer;
  if (mediaType !== jwsType && mediaType !== coseType) {
    throw new EnvelopeFault(
      `unable to parse the digital signature, error : signature envelope format is not supported`,
    );
  }
  const envelope = await registry.blob(repository, layer.digest, maxEnvelopeBytes, signal);
  return mediaType === jwsType ? readJws(envelope) : readCose(envelope);
}

interface Against {
  readonly target: Target;
  readonly statement: Applicable;
  readonly trusted: readonly ChainCertificate[];
  readonly checking: Checking;
}

/** A certificate that cannot be read to its end is a fault of its signature alone: another signature may be good. */
function checkedSignature(envelope: Envelope, against: Against): "ignored" | "verified" {
  try {
    return checkSignature(envelope, against);
  } catch (error) {
    against.checking.signal.throwIfAborted();
    if (error instanceof EnvelopeFault) throw error;
    throw new EnvelopeFault(messageOf(error), { cause: error });
  }
}

/** Throws an {@link EnvelopeFault} if a check fails that the policy enforces, and any error for a malformed certificate. */
function checkSignature(envelope: Envelope, { target, statement, trusted, checking }: Against): "ignored" | "verified" {
  const chain = envelope.chain.map(readCertificate);
  checkIntegrity(envelope, chain);
  const run = (check: Exclude<keyof Applicable["actions"], "integrity">, fault: string | undefined): boolean => {
    const action = statement.actions[check];
    if (fault === undefined || action === "skip") return true;
    if (action === "enforce") throw new EnvelopeFault(fault);
    checking.refused(`verification check for type '${check}' failed with message: '${fault}'`);
    return false;
  };
  const isAuthentic = run("authenticity", authenticityFault(envelope, chain, statement, trusted));
  run("expiry", expiryFault(envelope, checking.now));
  run("authenticTimestamp", timeFault(envelope, chain, statement, checking.now));
  run("revocation", revocationFault(chain));
  const [unknown] = envelope.criticalAttributes;
  if (unknown !== undefined) {
    throw new EnvelopeFault("the signature has a critical attribute for a verification plugin, which is not supported");
  }
  const signed = Payload.safeParse(jsonOf(envelope.payload)).data?.targetArtifact;
  const isSame =
    signed?.digest === target.digest && signed.mediaType === target.mediaType && signed.size === target.size;
  if (!isSame) throw new EnvelopeFault("content descriptor mismatch");
  return isAuthentic ? "verified" : "ignored";
}

function checkIntegrity(envelope: Envelope, chain: readonly ChainCertificate[]): void {
  const [leaf] = chain;
  if (leaf === undefined) throw new EnvelopeFault("certificate chain is not present");
  const { algorithm, contentType, signed, signature } = envelope;
  if (algorithmOf(leaf) !== algorithm) {
    throw new EnvelopeFault(
      "mismatch between signature algorithm derived from signing certificate and signing algorithm specified",
    );
  }
  const hash = `sha${algorithm.slice(2)}`;
  const key = leaf.x509.publicKey;
  const isOurs = algorithm.startsWith("PS")
    ? verify(
        hash,
        signed,
        { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
        signature,
      )
    : verify(hash, signed, { key, dsaEncoding: "ieee-p1363" }, signature);
  if (!isOurs) throw new EnvelopeFault("signature is invalid. Error: verification error");
  checkChain(chain);
  if (contentType !== payloadType)
    throw new EnvelopeFault(`payload content type not supported: it is not ${payloadType}`);
}

function authenticityFault(
  { scheme }: Envelope,
  chain: readonly ChainCertificate[],
  { identities, name, storeTypes }: Applicable,
  trusted: readonly ChainCertificate[],
): string | undefined {
  if (!storeTypes.has(scheme === "notary.x509" ? "ca" : "signingAuthority")) {
    return "no trusted certificates are found to verify authenticity";
  }
  const isTrusted = chain.some(({ x509 }) => trusted.some((one) => one.x509.raw.equals(x509.raw)));
  if (!isTrusted) {
    return "the signature's certificate chain does not contain any trusted certificate";
  }
  if (identities.includes("*")) return undefined;
  const subjects = identities.flatMap((identity) => {
    const [prefix = "", value = ""] = identity.split(/:(.*)/s, 2);
    return prefix === "x509.subject" ? [parseDistinguishedName(value)] : [];
  });
  if (subjects.length === 0)
    return `no x509 trusted identities are configured in the trust policy ${JSON.stringify(name)}`;
  try {
    const [leaf] = chain;
    const own = parseSubject(leaf?.x509.subject ?? "");
    if (subjects.some((subject) => isWithin(subject, own))) return undefined;
  } catch (error) {
    return `error while parsing the certificate subject from the digital signature. error : ${messageOf(error)}`;
  }
  const why = "does not match the X.509 trusted identities";
  return `signing certificate from the digital signature ${why} defined in the trust policy ${JSON.stringify(name)}`;
}

function expiryFault({ expiry }: Envelope, now: number): string | undefined {
  if (expiry === undefined || now < expiry) return undefined;
  return `digital signature has expired on ${new Date(expiry).toISOString()}`;
}

function timeFault(
  { scheme, signingTime }: Envelope,
  chain: readonly ChainCertificate[],
  { isTimestampAlwaysVerified, storeTypes }: Applicable,
  now: number,
): string | undefined {
  const isByMaker = scheme === "notary.x509";
  const at = isByMaker ? now : signingTime;
  const outside = chain.find(({ x509 }) => at < x509.validFromDate.getTime() || at > x509.validToDate.getTime());
  if (isByMaker && storeTypes.has("tsa") && (isTimestampAlwaysVerified || outside !== undefined)) {
    const mend = "remove the tsa trust store, or set verifyTimestamp to afterCertExpiry";
    return `timestamps of an authority are not supported yet: ${mend}`;
  }
  if (outside === undefined) return undefined;
  const subject = shownSubject(outside);
  if (!isByMaker) {
    return `certificate ${subject} was not valid when the digital signature was produced at ${new Date(at).toISOString()}`;
  }
  const { validFromDate, validToDate } = outside.x509;
  return now < validFromDate.getTime()
    ? `verification time is before certificate ${subject} validity period, it will be valid from ${validFromDate.toISOString()}`
    : `verification time is after certificate ${subject} validity period, it was expired at ${validToDate.toISOString()}`;
}

function revocationFault(chain: readonly ChainCertificate[]): string | undefined {
  const revocable = chain.slice(0, -1).find(isRevocable);
  if (revocable === undefined) return undefined;
  const mend = `neither OCSP nor a CRL is asked; override "revocation" with "log" or "skip" in the trust policy`;
  return `signing certificate with subject ${shownSubject(revocable)} revocation status is unknown: ${mend}`;
}
