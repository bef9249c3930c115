import { z } from "zod";
import { messageOf } from "../../../core/failure.ts";
import { HttpError } from "../../../core/ports/http.ts";
import { limitedList, limitedMap } from "../../../core/validation.ts";
import { jsonOf, RegistryFault } from "../registry-fault.ts";
import type { Checking, SignedArtifact } from "./signed-artifact.ts";

/** Signatures of one artifact that are tried: of the cosign 2 form, and bundles. */
export const maxSignaturesTried = 50;
/** The limit for the text that a cosign 2 signature signs, which has about 250 bytes. */
export const maxPayloadBytes = 64 * 1024;
/** The annotations of a signature: the signature itself, a certificate with its chain, the entry of a transparency log. */
const maxSignatureAnnotations = 100;

const signatureType = "cosign container image signature";

const Layer = z.object({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hexadecimal digits"),
  annotations: limitedMap(z.string(), maxSignatureAnnotations).default({}),
});
const Manifest = z.object({ layers: limitedList(Layer, maxSignaturesTried).default([]) });

/** The claim that a cosign 2 signature signs: simple signing of the containers project. */
const Payload = z.object({
  critical: z.object({ type: z.string(), image: z.object({ "docker-manifest-digest": z.string() }) }),
});

/** One signature of the cosign 2 form: a layer under the tag `sha256-<digits>.sig`. */
export interface SimpleSignature {
  readonly payload: Uint8Array;
  readonly signature: Uint8Array;
  /** In base64, as the log's entry repeats it. */
  readonly signatureText: string;
  /** PEM of the certificate whose key signed; absent where a key was used. */
  readonly certificate: string | undefined;
  /** The entry of a Rekor log, as JSON text. */
  readonly rekorBundle: string | undefined;
}

/** Downloads the cosign 2 signatures of an artifact, in the order of the registry; none if there are none. */
export async function* simpleSignatures(
  { repository, digest, registry }: SignedArtifact,
  { signal, refused }: Checking,
): AsyncGenerator<SimpleSignature> {
  const tag = `${digest.replace(":", "-")}.sig`;
  const found = await registry.manifest(repository, tag, signal).catch((error: unknown) => {
    if (error instanceof RegistryFault && error.reason === "not-found") return undefined;
    throw error;
  });
  if (found === undefined) return;
  const manifest = Manifest.safeParse(jsonOf(found.bytes));
  if (!manifest.success) return refused(`the manifest ${tag} is not a readable manifest of signatures`);
  for (const { digest: payloadDigest, annotations } of manifest.data.layers) {
    const signatureText = annotations["dev.cosignproject.cosign/signature"] ?? "";
    if (signatureText === "") {
      refused(`the layer ${payloadDigest} of ${tag} has no signature`);
      continue;
    }
    const payload = await registry.blob(repository, payloadDigest, maxPayloadBytes, signal).catch((error: unknown) => {
      if (!(error instanceof HttpError && error.reason === "too-large")) throw error;
      refused(messageOf(error));
      return undefined;
    });
    if (payload === undefined) continue;
    yield {
      payload,
      signature: Buffer.from(signatureText, "base64"),
      signatureText,
      certificate: annotations["dev.sigstore.cosign/certificate"],
      rekorBundle: annotations["dev.sigstore.cosign/bundle"],
    };
  }
}

/**
 * Why a payload, whose signature holds, is not about this artifact; undefined if it is. Without this check a signature of one artifact
 * could be put under the tag of another.
 */
export function claimFault(payload: Uint8Array, digest: string): string | undefined {
  const claim = Payload.safeParse(jsonOf(payload));
  if (!claim.success) return "the signed payload is not a claim of simple signing";
  const { type, image } = claim.data.critical;
  if (type !== signatureType) return `the signed payload is of another type than ${signatureType}`;
  const claimed = image["docker-manifest-digest"];
  return claimed === digest ? undefined : `invalid or missing digest in claim: ${shownDigest(claimed)}`;
}

function shownDigest(text: string): string {
  return /^sha256:[0-9a-f]{64}$/.test(text) ? text : "an invalid digest";
}
