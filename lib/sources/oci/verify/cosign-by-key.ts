import { timeSlices } from "../../../core/concurrency.ts";
import { statementBundles } from "./bundles.ts";
import { type PublicKey, parsePublicKey } from "./public-key.ts";
import { SignatureFault } from "./signature-fault.ts";
import type { Checking, SignedArtifact } from "./signed-artifact.ts";
import { claimFault, simpleSignatures } from "./simple-signatures.ts";

/** The limit for the keys of one Secret: each signature is tried with each key. */
export const maxPublicKeys = 100;

/** What Flux says where no signature holds. */
export function noMatch(reference: string): SignatureFault {
  return new SignatureFault(`no matching signatures were found for '${reference}'`);
}

/**
 * Verifies an artifact by cosign with public keys (reference sources 3.6): one signature by one of the keys is enough. Bundles of
 * cosign 3 are looked at before signatures of cosign 2. The transparency log is not asked, as in Flux.
 *
 * @param keys PEM by their names in the Secret; one that cannot be read ends the check
 * @throws {SignatureFault} with Flux's text; an error of the registry as it comes
 */
export async function verifyByKeys(
  artifact: SignedArtifact,
  keys: ReadonlyMap<string, string>,
  checking: Checking,
): Promise<void> {
  if (keys.size > maxPublicKeys) throw new SignatureFault(`the secret has more than ${maxPublicKeys} public keys`);
  const parsed = [...keys].map(([name, pem]) => parsePublicKey(pem, `the key is '${name}' of the Secret`));
  const slices = timeSlices(checking.signal);
  for await (const { signed, signature, isAbout } of statementBundles(artifact, checking)) {
    if (slices.isOver()) await slices.pause();
    if (!isByOneOf(parsed, signed, signature)) checking.refused("no key has signed a bundle");
    else if (isAbout(artifact.digest)) return;
    else checking.refused("a signed statement is about another digest");
  }
  for await (const { payload, signature } of simpleSignatures(artifact, checking)) {
    if (slices.isOver()) await slices.pause();
    const fault = isByOneOf(parsed, payload, signature)
      ? claimFault(payload, artifact.digest)
      : "no key has made a signature";
    if (fault === undefined) return;
    checking.refused(fault);
  }
  throw noMatch(artifact.reference);
}

function isByOneOf(keys: readonly PublicKey[], signed: Uint8Array, signature: Uint8Array): boolean {
  return keys.some((key) => key.verifies(signed, signature));
}
