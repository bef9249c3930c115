import { hash, X509Certificate } from "node:crypto";
import { type Bundle, bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, Verifier } from "@sigstore/verify";
import { messageOf } from "../../../core/failure.ts";
import { maxBundlePartChars, statementBundles } from "./bundles.ts";
import { type Identity, identityCheck } from "./identities.ts";
import { entryBody, namesCertificate, parseRekorBundle } from "./log-entry.ts";
import { SignatureFault } from "./signature-fault.ts";
import type { Checking, SignedArtifact } from "./signed-artifact.ts";
import { claimFault, type SimpleSignature, simpleSignatures } from "./simple-signatures.ts";
import { ownTrust, publicTrust } from "./trusted-root.ts";

/** Reasons that a message names, of signatures that do not hold. */
const maxNamedReasons = 3;

/** Whom keyless signatures are trusted from. */
export interface KeylessTrust {
  /** The identities of `spec.verify.matchOIDCIdentity`; one match is enough, and an empty list means that any signer counts. */
  readonly identities: readonly Identity[];
  /** `trusted_root.json` of an own Sigstore, in place of the public one. */
  readonly trustedRoot?: string;
}

/**
 * Verifies an artifact by cosign without a key (reference sources 3.6): the certificate of a trusted authority that was valid when
 * a trusted log took the entry, with the proof of a certificate log. All of it comes with the signature: no service is asked.
 *
 * @throws {SignatureFault} with cosign's text; an error of the registry unchanged
 */
export async function verifyKeyless(
  artifact: SignedArtifact,
  { identities, trustedRoot }: KeylessTrust,
  checking: Checking,
): Promise<void> {
  const checkIdentity = identityCheck(identities, checking.signal);
  const trust = trustedRoot === undefined ? publicTrust() : ownTrust(trustedRoot);
  const check = { verifier: new Verifier(trust), checkIdentity };
  const reasons: string[] = [];
  const refuse = (why: string): void => {
    reasons.push(why);
    checking.refused(why);
  };
  let kind = "attestations";
  for await (const { bundle, isAbout } of statementBundles(artifact, checking)) {
    const fault =
      (await faultOf(() => checkBundle(bundle, check), checking.signal)) ??
      (isAbout(artifact.digest) ? undefined : "the signed statement is about another digest");
    if (fault === undefined) return;
    refuse(fault);
  }
  for await (const one of simpleSignatures(artifact, checking)) {
    kind = "signatures";
    const fault =
      (await faultOf(() => checkBundle(asBundle(one), { ...check, signed: one.payload }), checking.signal)) ??
      claimFault(one.payload, artifact.digest);
    if (fault === undefined) return;
    refuse(fault);
  }
  if (reasons.length === 0) throw new SignatureFault("no signatures found");
  const others = reasons.length > maxNamedReasons ? `\n and ${reasons.length - maxNamedReasons} more` : "";
  throw new SignatureFault(`no matching ${kind}: ${reasons.slice(0, maxNamedReasons).join("\n ")}${others}`);
}

interface Check {
  readonly verifier: Verifier;
  readonly checkIdentity: ReturnType<typeof identityCheck>;
  /** The bytes that a signature without an envelope signs. */
  readonly signed?: Uint8Array;
}

async function checkBundle(bundle: Bundle, { verifier, checkIdentity, signed }: Check): Promise<void> {
  const entity = toSignedEntity(bundle, signed === undefined ? undefined : Buffer.from(signed));
  if (entity.key.$case !== "certificate") throw new SignatureFault("no certificate found on signature");
  const certificate = new X509Certificate(certificateIn(bundle));
  for (const { canonicalizedBody } of entity.tlogEntries) {
    const body = entryBody(canonicalizedBody);
    if (body === undefined || !namesCertificate(body, certificate)) {
      throw new SignatureFault("the entry of the transparency log is of another certificate");
    }
  }
  const { identity } = verifier.verify(entity);
  const { subjectAlternativeName: subject = "", extensions: { issuer = "" } = {} } = identity ?? {};
  const fault = await checkIdentity({ issuer, subject });
  if (fault !== undefined) throw new SignatureFault(fault);
}

function certificateIn({ verificationMaterial: { content } }: Bundle): Uint8Array {
  if (content.$case === "certificate") return content.certificate.rawBytes;
  const [first] = content.$case === "x509CertificateChain" ? content.x509CertificateChain.certificates : [];
  return first?.rawBytes ?? new Uint8Array();
}

/** A signature of the cosign 2 form as the bundle that holds the same. */
function asBundle({ payload, signatureText, certificate, rekorBundle }: SimpleSignature): Bundle {
  if (certificate === undefined || certificate === "") throw new SignatureFault("no certificate found on signature");
  if (certificate.length > maxBundlePartChars) throw new SignatureFault("the certificate is too large");
  if (rekorBundle === undefined || rekorBundle === "") {
    // cosign would ask the log itself for the entry.
    const mend = "sign again with cosign 2 or newer, without --tlog-upload=false";
    throw new SignatureFault(
      `the signature does not include its transparency log entry, and Sluice does not query the log: ${mend}`,
    );
  }
  const { SignedEntryTimestamp: signedEntryTimestamp, Payload: entry } = parseRekorBundle(rekorBundle);
  const { kind = "", apiVersion = "" } = entryBody(Buffer.from(entry.body, "base64")) ?? {};
  return bundleFromJSON({
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: new X509Certificate(certificate).raw.toString("base64") }] },
      tlogEntries: [
        {
          logIndex: String(entry.logIndex),
          logId: { keyId: Buffer.from(entry.logID, "hex").toString("base64") },
          kindVersion: { kind, version: apiVersion },
          integratedTime: String(entry.integratedTime),
          inclusionPromise: { signedEntryTimestamp },
          canonicalizedBody: entry.body,
        },
      ],
    },
    messageSignature: {
      messageDigest: { algorithm: "SHA2_256", digest: hash("sha256", payload, "base64") },
      signature: signatureText,
    },
  });
}

/** Why a check fails; undefined if it does not. What reads a damaged certificate or entry may throw anything. */
async function faultOf(check: () => Promise<void>, signal: AbortSignal): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    return `${messageOf(error)}${cause}`;
  }
}
