import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Http } from "../../../lib/core/ports/http.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { pushArtifact } from "../../../lib/sources/oci/push-artifact.ts";
import { registryClients } from "../../../lib/sources/oci/registry-client.ts";

const origin = { source: "https://example.test/repo", revision: "main@sha1:0000000000000000000000000000000000000000" };

/** Pushes these files as a Flux artifact. @param url `oci://HOST:PORT/REPOSITORY:TAG`, plain HTTP. @returns the digest */
export async function pushFiles(
  url: string,
  files: Readonly<Record<string, string>>,
  http: Http,
  signal: AbortSignal,
): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "sluice-push-"));
  try {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text);
    }
    const connect = registryClients(http, systemClock);
    const access = { insecure: true, userAgent: "test" };
    return (await pushArtifact({ url, path, ...origin }, ({ host }) => connect({ host, ...access }), signal)).digest;
  } finally {
    await rm(path, { recursive: true });
  }
}
