import { expect, test, vi } from "vitest";
import { z } from "zod";
import { digestOf } from "../../../lib/core/digest.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { mediaTypes } from "../../../lib/sources/oci/media-types.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";
import { deadlineMs } from "../../deadline.ts";
import { ownSluice } from "../recorded-flux/own-sluice.ts";

const { signal } = new AbortController();
const sluice = ownSluice(signal);
const Status = z.looseObject({
  lastScanResult: z.looseObject({ latestTags: z.array(z.string()).default([]) }).optional(),
});

test("a push to a registry that sends events starts a scan at once, of its repository and of no other", async () => {
  const { cluster, http, registry } = sluice();
  const client = registryClients(http, systemClock)({ host: registry, insecure: true });
  const push = async (repository: string, tag: string): Promise<void> => {
    const config = Buffer.from("{}");
    await client.pushBlob(repository, config, signal);
    const blob = { mediaType: mediaTypes.fluxConfig, size: config.length, digest: digestOf(config) };
    const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, config: blob, layers: [] };
    await client.pushManifest(repository, tag, mediaTypes.manifest, Buffer.from(JSON.stringify(manifest)), signal);
  };
  const ref = (name: string) => ({
    ...{ group: "image.toolkit.fluxcd.io", version: "v1", kind: "ImageRepository" },
    ...{ namespace: "default", name },
  });
  const scanned = async (name: string) => {
    const live = await cluster.get(ref(name), signal);
    return Status.parse(live?.["status"] ?? {}).lastScanResult;
  };
  for (const name of ["pushed", "quiet"]) {
    await push(name, "1.0.0");
    const manifest = {
      ...{ apiVersion: "image.toolkit.fluxcd.io/v1", kind: "ImageRepository" },
      metadata: { name, namespace: "default" },
      spec: { image: `${registry}/${name}`, interval: "24h" },
    };
    await cluster.apply(manifest, { manager: "bench", force: true }, signal);
    await vi.waitFor(async () => expect((await scanned(name))?.latestTags).toEqual(["1.0.0"]), { timeout: deadlineMs });
  }
  const quiet = await scanned("quiet");
  await push("pushed", "1.1.0");
  const isScanned = async () => expect((await scanned("pushed"))?.latestTags).toEqual(["1.1.0", "1.0.0"]);
  await vi.waitFor(isScanned, { timeout: deadlineMs });
  expect(await scanned("quiet")).toEqual(quiet);
});
