import { messageOf } from "../../../../core/failure.ts";
import { SignatureFault } from "../signature-fault.ts";
import { type ChainCertificate, readCertificate } from "./certificate-chain.ts";

/** In all trust stores of a Secret together. */
export const maxTrustedCertificates = 1_000;

const block = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

/** The certificates of a Secret, of which each entry may hold several in PEM. Throws a {@link SignatureFault} that names the entry. */
export function trustedCertificates(entries: ReadonlyMap<string, string>): readonly ChainCertificate[] {
  const found: ChainCertificate[] = [];
  for (const [name, text] of entries) {
    const blocks = [...text.matchAll(block)];
    if (blocks.length === 0) throw new SignatureFault(`failed to parse certificate '${name}': it is not in PEM`);
    if (found.length + blocks.length > maxTrustedCertificates) {
      throw new SignatureFault(`the trust stores have more than ${maxTrustedCertificates} certificates`);
    }
    for (const [, base64 = ""] of blocks) {
      try {
        found.push(readCertificate(Buffer.from(base64, "base64")));
      } catch (error) {
        throw new SignatureFault(`failed to parse certificate '${name}': ${messageOf(error)}`, { cause: error });
      }
    }
  }
  return found;
}
