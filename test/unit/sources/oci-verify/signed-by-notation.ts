import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { mediaTypes } from "../../../../lib/sources/oci/media-types.ts";
import { parseTrustPolicy } from "../../../../lib/sources/oci/verify/notation/trust-policy.ts";
import { verifyNotation } from "../../../../lib/sources/oci/verify/notation/verify-notation.ts";
import { untilDeadline } from "../../../deadline.ts";
import { pushReferrer } from "../../../doubles/cosign-signatures.ts";
import { checkingAt, memoryRegistry } from "../../../doubles/memory-registry.ts";

const Fixture = z.object({
  manifest: z.string(),
  certificates: z.object({ root: z.string(), middle: z.string() }),
  signatures: z.array(z.object({ name: z.string(), mediaType: z.string(), envelope: z.string() })),
});

/** Signatures that notation-go has made: see test/fixtures/signatures/README.md. */
const fixture = Fixture.parse(
  JSON.parse(await readFile(join(import.meta.dirname, "../../../fixtures/signatures/notation.json"), "utf8")),
);
export const { root, middle } = fixture.certificates;
export const notationType = "application/vnd.cncf.notary.signature";

/** The bytes of a signature and their media type, by the name that the maker gave it. */
export function envelopeOf(name: string) {
  const found = fixture.signatures.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no signature ${name}`);
  return { bytes: Buffer.from(found.envelope, "base64"), mediaType: found.mediaType };
}

export const allNames = fixture.signatures.map(({ name }) => name);

/** A statement of a trust policy that takes everything from the certificates of the Secret. */
export const statement = {
  name: "all",
  registryScopes: ["*"],
  signatureVerification: { level: "strict" },
  trustStores: ["ca:acme", "signingAuthority:acme"],
  trustedIdentities: ["*"],
};

export interface Asked {
  /** Names of signatures, or what is in their place. */
  readonly signatures: readonly (string | { readonly bytes: Uint8Array; readonly mediaType: string })[];
  readonly statements?: readonly object[];
  readonly policy?: object;
  readonly certificates?: Readonly<Record<string, string>>;
  readonly now?: number;
}

/** Verifies the artifact that the fixture's signatures are of; answers the verdict, or the reason of the refusal. */
export async function verdictOn({ signatures, statements = [statement], policy, certificates, now }: Asked) {
  const { client, asked } = memoryRegistry();
  const signal = untilDeadline();
  const bytes = Buffer.from(fixture.manifest);
  const digest = await client.pushManifest("app", "latest", mediaTypes.manifest, bytes, signal);
  const artifact = { client, registry: client, repository: "app", digest, reference: `registry.test/app@${digest}` };
  for (const one of signatures) {
    const { bytes: envelope, mediaType } = typeof one === "string" ? envelopeOf(one) : one;
    await pushReferrer(artifact, envelope, { artifactType: notationType, mediaType });
  }
  const checking = checkingAt(now);
  const asWritten = JSON.stringify(policy ?? { version: "1.0", trustPolicies: statements });
  const pems = new Map(Object.entries(certificates ?? { "root.crt": root }));
  const verify = async () =>
    verifyNotation(artifact, { policy: parseTrustPolicy(asWritten), certificates: pems }, checking);
  const verdict = await verify().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  return { verdict, reasons: checking.reasons, asked };
}
