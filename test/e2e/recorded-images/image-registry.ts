import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { digestOf } from "../../../lib/core/digest.ts";
import type { Http } from "../../../lib/core/ports/http.ts";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { httpClient } from "../../../lib/http/http-client.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { mediaTypes } from "../../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { startRegistry } from "../../../local/registry/start-registry.ts";
import { silentLog } from "../../doubles/silent-log.ts";

/** Pushes images to a registry. */
export interface ImageClient {
  /** Answers the digest. An equal text makes the same image. */
  push(repository: string, tag: string, text: string): Promise<string>;
}

/** A registry of images that tells no Sluice of pushes, as the one of the recordings. */
export interface ImageRegistry extends ImageClient, AsyncDisposable {
  /** `HOST:PORT`, plain HTTP. */
  readonly address: string;
  remove(repository: string, tag: string): Promise<void>;
}

export async function imageRegistry(signal: AbortSignal): Promise<ImageRegistry> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-recorded-images-"));
  const registry = await startRegistry({ folder, port: 0, log: silentLog, onPush: () => undefined });
  const http = httpClient({ network: homeNetwork });
  const images = imageClient(registry.address, http, signal);
  return {
    ...images,
    address: registry.address,
    async remove(repository, tag) {
      const url = `http://${registry.address}/v2/${repository}/manifests/${tag}`;
      const { status } = await http.send({ method: "DELETE", url, timeoutMs: 10_000, maxBytes: 1_000_000 }, signal);
      if (status !== 202) throw new Error(`DELETE ${url}: ${status}`);
    },
    async [Symbol.asyncDispose]() {
      http.close();
      await registry.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @param address `HOST:PORT`, plain HTTP */
export function imageClient(address: string, http: Http, signal: AbortSignal): ImageClient {
  const client = registryClients(http, systemClock)({ host: address, insecure: true });
  return {
    async push(repository, tag, text) {
      const config = Buffer.from("{}");
      await client.pushBlob(repository, config, signal);
      const manifest = {
        ...{ schemaVersion: 2, mediaType: mediaTypes.manifest, layers: [] },
        config: { mediaType: mediaTypes.fluxConfig, size: config.length, digest: digestOf(config) },
        annotations: { "example.test/text": text },
      };
      const bytes = Buffer.from(JSON.stringify(manifest));
      return client.pushManifest(repository, tag, mediaTypes.manifest, bytes, signal);
    },
  };
}
