import { type KeyObject, sign } from "node:crypto";
import { digestOf } from "../../lib/core/digest.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import type { RegistryClient } from "../../lib/sources/oci/registry-client.ts";
import { untilDeadline } from "../deadline.ts";

// What cosign writes beside an artifact, in both of its forms, made by this code.

/** An artifact in a registry. */
export interface Signable {
  readonly client: RegistryClient;
  readonly repository: string;
  readonly digest: string;
}

/** A layer of the cosign 2 form: what is signed, and the annotations that prove it. */
export interface SimpleLayer {
  readonly payload: Uint8Array;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The claim that cosign signs for this digest. */
export function claimOf(digest: string, type = "cosign container image signature"): Buffer {
  const critical = {
    identity: { "docker-reference": "" },
    image: { "docker-manifest-digest": digest },
    type,
  };
  return Buffer.from(JSON.stringify({ critical, optional: null }));
}

/** SHA-256, apart from Ed25519, which hashes by itself. */
export function signedBy(key: KeyObject, bytes: Uint8Array): Buffer {
  return sign(key.asymmetricKeyType === "ed25519" ? null : "sha256", bytes, key);
}

/** A signature by a key, of the claim or of another payload. */
export function simpleLayer(key: KeyObject, payload: Uint8Array): SimpleLayer {
  return { payload, annotations: { "dev.cosignproject.cosign/signature": signedBy(key, payload).toString("base64") } };
}

/** Puts signatures under the tag `sha256-<digits>.sig`, in place of those there. */
export async function pushSimple({ client, repository, digest }: Signable, layers: readonly SimpleLayer[]) {
  const signal = untilDeadline();
  const config = Buffer.from("{}");
  for (const bytes of [config, ...layers.map(({ payload }) => payload)]) {
    await client.pushBlob(repository, bytes, signal);
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", size: config.length, digest: digestOf(config) },
    layers: layers.map(({ payload, annotations }) => ({
      mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
      size: payload.length,
      digest: digestOf(payload),
      annotations,
    })),
  };
  const tag = `${digest.replace(":", "-")}.sig`;
  await client.pushManifest(repository, tag, mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)), signal);
}

/** Signs an artifact with each of these keys, as cosign 2 does. */
export async function signSimply(artifact: Signable, ...keys: readonly KeyObject[]): Promise<void> {
  await pushSimple(
    artifact,
    keys.map((key) => simpleLayer(key, claimOf(artifact.digest))),
  );
}

export const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";

/** Puts something beside an artifact that refers to it: a bundle, or a signature of Notation. */
export async function pushReferrer(
  { client, repository, digest }: Signable,
  content: Uint8Array,
  { artifactType, mediaType }: { readonly artifactType: string; readonly mediaType: string } = {
    artifactType: bundleType,
    mediaType: bundleType,
  },
): Promise<string> {
  const signal = untilDeadline();
  const empty = Buffer.from("{}");
  for (const bytes of [empty, content]) await client.pushBlob(repository, bytes, signal);
  const subject = await client.manifest(repository, digest, signal);
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    artifactType,
    config: { mediaType: "application/vnd.oci.empty.v1+json", size: empty.length, digest: digestOf(empty) },
    layers: [{ mediaType, size: content.length, digest: digestOf(content) }],
    subject: { mediaType: subject.mediaType, size: subject.bytes.length, digest },
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  return client.pushManifest(repository, digestOf(bytes), mediaTypes.manifest, bytes, signal);
}

export const statementType = "application/vnd.in-toto+json";

/** The statement that cosign 3 signs for this digest. */
export function statementOf(digest: string): Buffer {
  return Buffer.from(
    JSON.stringify({
      _type: "https://in-toto.io/Statement/v1",
      subject: [{ digest: { sha256: digest.replace("sha256:", "") } }],
      predicateType: "https://sigstore.dev/cosign/sign/v1",
      predicate: {},
    }),
  );
}

/** The bytes that an envelope (DSSE) signs. */
export function encodingOf(payload: Uint8Array, type = statementType): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload]);
}

/** A bundle as cosign 3 writes it for a key, of this statement. */
export function keyBundle(key: KeyObject, statement: Buffer): object {
  return {
    mediaType: bundleType,
    verificationMaterial: { publicKey: { hint: "a" }, tlogEntries: [] },
    dsseEnvelope: {
      payload: statement.toString("base64"),
      payloadType: statementType,
      signatures: [{ sig: signedBy(key, encodingOf(statement)).toString("base64") }],
    },
  };
}
