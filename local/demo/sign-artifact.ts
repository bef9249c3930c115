import { type KeyObject, sign } from "node:crypto";
import { digestOf } from "../../lib/core/digest.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../lib/sources/oci/registry-client.ts";

const payloadType = "application/vnd.dev.cosign.simplesigning.v1+json";

/**
 * Signs an artifact with a key as cosign 2 does: a claim about the digest, under the tag `sha256-<digits>.sig` beside it.
 *
 * @param artifact `host`: `HOST:PORT`, plain HTTP
 */
export async function signArtifact(
  { host, repository, digest }: { readonly host: string; readonly repository: string; readonly digest: string },
  key: KeyObject,
  signal: AbortSignal,
): Promise<void> {
  const critical = {
    identity: { "docker-reference": `${host}/${repository}` },
    image: { "docker-manifest-digest": digest },
    type: "cosign container image signature",
  };
  const payload = Buffer.from(JSON.stringify({ critical, optional: null }));
  const config = Buffer.from("{}");
  const signature = sign("sha256", payload, key).toString("base64");
  const described = (bytes: Uint8Array, mediaType: string) => ({
    mediaType,
    size: bytes.length,
    digest: digestOf(bytes),
  });
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: described(config, "application/vnd.oci.image.config.v1+json"),
    layers: [{ ...described(payload, payloadType), annotations: { "dev.cosignproject.cosign/signature": signature } }],
  };
  const http = httpClient({ network: homeNetwork });
  try {
    const client = registryClients(http, systemClock)({ host, insecure: true, userAgent: "sluice-demo" });
    for (const bytes of [payload, config]) await client.pushBlob(repository, bytes, signal);
    const tag = `${digest.replace(":", "-")}.sig`;
    await client.pushManifest(repository, tag, mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)), signal);
  } finally {
    http.close();
  }
}
