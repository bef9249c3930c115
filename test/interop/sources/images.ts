import { digestOf } from "../../../lib/core/digest.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { mediaTypes } from "../../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { untilDeadline } from "../../deadline.ts";
import { archiveOf, type Files } from "./charts.ts";

export interface Layer {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface Image {
  readonly layers: readonly Layer[];
  readonly config?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export const fluxLayer = async (files: Files): Promise<Layer> => ({
  mediaType: mediaTypes.fluxContent,
  bytes: await archiveOf(files),
});

const client = httpClient({ network: homeNetwork });

export function clientOf(registry: string) {
  return registryClients(client, systemClock)({ host: registry, insecure: true });
}

/** Pushes it under a tag. @returns its digest */
export async function push(registry: string, repository: string, tag: string, image: Image): Promise<string> {
  const signal = untilDeadline();
  const to = clientOf(registry);
  const config = Buffer.from("{}");
  for (const bytes of [config, ...image.layers.map(({ bytes }) => bytes)]) await to.pushBlob(repository, bytes, signal);
  const described = (mediaType: string, bytes: Uint8Array) => ({
    mediaType,
    size: bytes.length,
    digest: digestOf(bytes),
  });
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: described(image.config ?? "application/vnd.cncf.flux.config.v1+json", config),
    layers: image.layers.map(({ mediaType, bytes }) => described(mediaType, bytes)),
    ...(image.annotations && { annotations: image.annotations }),
  };
  return to.pushManifest(repository, tag, mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)), signal);
}
