import { type Bundle, bundleFromJSON } from "@sigstore/bundle";
import { z } from "zod";
import { messageOf } from "../../../core/failure.ts";
import { HttpError } from "../../../core/ports/http.ts";
import { limitedList } from "../../../core/validation.ts";
import { jsonOf, RegistryFault } from "../registry-fault.ts";
import type { Checking, SignedArtifact } from "./signed-artifact.ts";
import { maxSignaturesTried } from "./simple-signatures.ts";

/** The limit for a Sigstore bundle. A signature has about 4 KiB; an attestation holds its whole statement. */
export const maxBundleBytes = 2 * 1024 * 1024;
/** Entries of transparency logs in one bundle, and timestamps; usually one of each. */
export const maxBundleEntries = 10;
/** The limit for a certificate or a timestamp in base64, which have about 1 KB and 6 KB. */
export const maxBundlePartChars = 64 * 1024;
/** The subject of a statement. A signature of cosign has one artifact as its subject. */
export const maxStatementSubjects = 10_000;

const bundleType = "application/vnd.dev.sigstore.bundle";
const statementType = "application/vnd.in-toto+json";

const Descriptor = z.object({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  artifactType: z.string().optional(),
});
const Manifest = z.object({ layers: z.array(z.object({ mediaType: z.string(), digest: z.string() })).length(1) });
const Subject = z.object({ digest: z.record(z.string(), z.string()).default({}) });
const Statement = z.object({ subject: limitedList(Subject, maxStatementSubjects) });
/** The parts of a bundle that are counted before it is parsed as a whole. */
const part = z.string().max(maxBundlePartChars);
const Counted = z.object({
  verificationMaterial: z.object({
    certificate: z.object({ rawBytes: part.optional() }).nullish(),
    tlogEntries: z.array(z.unknown()).max(maxBundleEntries).optional(),
    timestampVerificationData: z
      .object({
        rfc3161Timestamps: z
          .array(z.unknown())
          .max(maxBundleEntries)
          .pipe(z.array(z.object({ signedTimestamp: part })))
          .optional(),
      })
      .nullish(),
  }),
});

/** A bundle with a signed statement about artifacts: the form of cosign 3. */
export interface StatementBundle {
  readonly bundle: Bundle;
  /** The bytes that are signed: the encoding of the envelope (DSSE). */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  /** Whether the statement is about this digest. */
  readonly isAbout: (digest: string) => boolean;
}

/** Downloads the Sigstore bundles among the referrers of an artifact, from version 0.3 on; other referrers are left out. */
export async function* statementBundles(artifact: SignedArtifact, checking: Checking): AsyncGenerator<StatementBundle> {
  const { repository, digest, registry } = artifact;
  const referrers = await registry.referrers(repository, digest, checking.signal).catch((error: unknown) => {
    if (!(error instanceof RegistryFault || error instanceof HttpError)) throw error;
    // As cosign: where they cannot be listed, signatures of the older form may still be there.
    checking.refused(messageOf(error));
    return [];
  });
  let tried = 0;
  for (const referrer of referrers) {
    const descriptor = Descriptor.safeParse(referrer).data;
    if (descriptor === undefined || !maybeBundle(descriptor)) continue;
    if (++tried > maxSignaturesTried) return checking.refused(`only ${maxSignaturesTried} bundles are tried`);
    const found = await bundleOf(descriptor.digest, artifact, checking);
    if (found !== undefined) yield found;
  }
}

/** A registry that has not told the type may hold one. */
function maybeBundle({ artifactType = "" }: z.infer<typeof Descriptor>): boolean {
  return artifactType === "" || artifactType.startsWith(bundleType) || artifactType.startsWith("application/vnd.oci.");
}

async function bundleOf(
  digest: string,
  { repository, registry }: SignedArtifact,
  { signal, refused }: Checking,
): Promise<StatementBundle | undefined> {
  try {
    const { bytes } = await registry.manifest(repository, digest, signal);
    const [layer] = Manifest.safeParse(jsonOf(bytes)).data?.layers ?? [];
    if (layer?.mediaType.startsWith(bundleType) !== true) return undefined;
    return readBundle(await registry.blob(repository, layer.digest, maxBundleBytes, signal));
  } catch (error) {
    signal.throwIfAborted();
    const isOfThisOne =
      error instanceof BundleFault ||
      (error instanceof RegistryFault && error.reason === "not-found") ||
      (error instanceof HttpError && error.reason === "too-large");
    if (!isOfThisOne) throw error;
    refused(`${digest}: ${messageOf(error)}`);
    return undefined;
  }
}

/** A bundle that cannot be read. */
export class BundleFault extends Error {
  override readonly name = "BundleFault";
}

/** Reads a bundle. Throws a {@link BundleFault} for anything but a signed in-toto statement, as cosign does. */
export function readBundle(bytes: Uint8Array): StatementBundle {
  const json = jsonOf(bytes);
  if (!Counted.safeParse(json).success)
    throw new BundleFault("the bundle is not JSON of a Sigstore bundle, or too large");
  let bundle: Bundle;
  try {
    bundle = bundleFromJSON(json);
  } catch (error) {
    throw new BundleFault(`the bundle cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (!/[=.]v?0\.([3-9]|\d\d)\b/.test(bundle.mediaType)) throw new BundleFault("bundle version too old");
  const { content } = bundle;
  if (content.$case !== "dsseEnvelope") throw new BundleFault("bundle does not contain a DSSE envelope");
  const { payload, payloadType, signatures } = content.dsseEnvelope;
  const [signature] = signatures;
  if (payloadType !== statementType || signature === undefined) {
    throw new BundleFault(`the bundle does not hold a signed statement of ${statementType}`);
  }
  return {
    bundle,
    signed: encodingOf(payloadType, payload),
    signature: signature.sig,
    isAbout: (digest) => {
      const { subject = [] } = Statement.safeParse(jsonOf(payload)).data ?? {};
      return subject.some((one) => `sha256:${one.digest["sha256"] ?? ""}` === digest);
    },
  };
}

/** The bytes that a DSSE envelope signs. */
function encodingOf(type: string, payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);
}
