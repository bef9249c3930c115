import { RE2JS } from "re2js";
import { timeSlices } from "../../../core/concurrency.ts";
import { cutText } from "../../../core/cut-text.ts";
import { messageOf } from "../../../core/failure.ts";
import { SignatureFault } from "./signature-fault.ts";

/** Of `spec.verify.matchOIDCIdentity`. */
export const maxIdentities = 50;
/** The limit for a regular expression in it. */
export const maxIdentityPatternLength = 256;
/** The limit for a name in a certificate that is compared. */
export const maxSignerLength = 512;
/** The limit for a name in a certificate that a message quotes. */
const maxQuotedBytes = 200;

/** Whose signatures count: both are regular expressions, unanchored. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** Who signed, as the certificate says it: the address of the OIDC issuer, and the subject it has identified. */
export interface Signer {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * A check of signers against identities, of which any one may match; without identities every signer passes, as in Flux. The check
 * answers why a signer does not pass. Regular expressions are RE2, linear in time, and matched in slices of it. Throws a {@link SignatureFault} for an invalid one.
 */
export function identityCheck(
  identities: readonly Identity[],
  signal: AbortSignal,
): (signer: Signer) => Promise<string | undefined> {
  if (identities.length > maxIdentities) {
    throw new SignatureFault(`spec.verify.matchOIDCIdentity has more than ${maxIdentities} entries`);
  }
  const patterns = identities.map(({ issuer, subject }) => ({
    issuer: compiled(issuer, "issuer"),
    subject: compiled(subject, "subject"),
  }));
  return async ({ issuer, subject }) => {
    if (issuer.length > maxSignerLength || subject.length > maxSignerLength) {
      return `the certificate has a name of more than ${maxSignerLength} characters`;
    }
    if (patterns.length === 0) return undefined;
    const slices = timeSlices(signal);
    for (const one of patterns) {
      if (slices.isOver()) await slices.pause();
      if (one.issuer.matcher(issuer).find() && one.subject.matcher(subject).find()) return undefined;
    }
    const got = `got subjects [${cutText(subject, maxQuotedBytes)}] with issuer ${cutText(issuer, maxQuotedBytes)}`;
    return `none of the expected identities matched what was in the certificate, ${got}`;
  };
}

function compiled(pattern: string, field: string): RE2JS {
  if (pattern.length > maxIdentityPatternLength) {
    throw new SignatureFault(`malformed ${field} in identity: it has more than ${maxIdentityPatternLength} characters`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new SignatureFault(`malformed ${field} in identity: ${pattern} : ${messageOf(error)}`, { cause: error });
  }
}
