import { z } from "zod";
import { digestOf } from "../../lib/core/digest.ts";
import { homeNetwork } from "../../lib/core/network/network-policy.ts";
import { httpClient } from "../../lib/http/http-client.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { gzip, packEnd, packEntry } from "../../lib/sources/archive/pack-tar.ts";
import { chartYamlMap } from "../../lib/sources/helm/chart-yaml.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../lib/sources/oci/registry-client.ts";

/** Files of a chart by their path in its folder. */
export type ChartFiles = ReadonlyMap<string, string>;

const Named = z.looseObject({ name: z.string(), version: z.string() });

/**
 * Packs a chart and pushes it under its version, as `helm package` and `helm push` do.
 *
 * @param files with `Chart.yaml` among them
 * @param to `host`: `HOST:PORT`, plain HTTP
 */
export async function pushChart(
  files: ChartFiles,
  { host, repository }: { readonly host: string; readonly repository: string },
  signal: AbortSignal,
): Promise<{ readonly revision: string; readonly at: number }> {
  const metadata = chartYamlMap(Buffer.from(files.get("Chart.yaml") ?? ""));
  const { name, version } = Named.parse(metadata);
  const archive = await gzip(membersOf(files, name));
  const config = Buffer.from(JSON.stringify(metadata));
  const described = (bytes: Uint8Array, mediaType: string) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = {
    schemaVersion: 2,
    config: described(config, "application/vnd.cncf.helm.config.v1+json"),
    layers: [described(archive, mediaTypes.helmChart)],
  };
  const http = httpClient({ network: homeNetwork });
  try {
    const client = registryClients(http, systemClock)({ host, insecure: true, userAgent: "sluice-demo" });
    for (const bytes of [archive, config]) await client.pushBlob(repository, bytes, signal);
    const text = Buffer.from(JSON.stringify(manifest));
    const digest = await client.pushManifest(repository, version, mediaTypes.manifest, text, signal);
    return { revision: `${version}@${digest}`, at: Date.now() };
  } finally {
    http.close();
  }
}

function* membersOf(files: ChartFiles, folder: string): Generator<Uint8Array, void, undefined> {
  for (const [name, text] of files) {
    yield* packEntry({ type: "file", path: `${folder}/${name}`, mode: 0o644, bytes: Buffer.from(text) });
  }
  yield packEnd();
}
