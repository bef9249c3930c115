import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Http } from "../../../lib/core/ports/http.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { type PushedArtifact, pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import { type RegistryClient, registryClients } from "../../../lib/sources/oci/registry-client.ts";

const origin = { source: "https://example.test/repo", revision: "main@sha1:0000000000000000000000000000000000000000" };

/**
 * Pushes these files as a Flux artifact. @param url `oci://HOST:PORT/REPOSITORY:TAG`, plain HTTP. @param namesSource whether the
 * artifact says where it is from. @returns the digest
 */
export async function pushFiles(
  url: string,
  files: Readonly<Record<string, string>>,
  http: Http,
  signal: AbortSignal,
  namesSource = true,
): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "sluice-push-"));
  try {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text);
    }
    const access = { insecure: true, userAgent: "test" };
    const connect = ({ host }: { readonly host: string }) => registryClients(http, systemClock)({ host, ...access });
    const pushed = await pushArtifact({ url, path, ...origin }, connect, signal);
    return namesSource ? pushed.digest : await withoutSource(pushed, connect({ host: new URL(url).host }), signal);
  } finally {
    await rm(path, { recursive: true });
  }
}

/** The same artifact again under its tag, with one other annotation. */
async function withoutSource(
  { url, tag, digest }: PushedArtifact,
  client: RegistryClient,
  signal: AbortSignal,
): Promise<string> {
  const repository = new URL(url).pathname.slice(1).replace(/@.*$/, "");
  const { bytes, mediaType } = await client.manifest(repository, digest, signal);
  const manifest = Manifest.parse(JSON.parse(Buffer.from(bytes).toString()));
  const { "org.opencontainers.image.source": _source, ...annotations } = manifest.annotations;
  const changed = Buffer.from(JSON.stringify({ ...manifest, annotations }));
  return client.pushManifest(repository, tag, mediaType, changed, signal);
}

const Manifest = z.looseObject({ annotations: z.record(z.string(), z.string()) });
