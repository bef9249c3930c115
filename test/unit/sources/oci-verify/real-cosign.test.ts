import { generateKeyPairSync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { verifyByKeys } from "../../../../lib/sources/oci/verify/cosign-by-key.ts";
import { untilDeadline } from "../../../deadline.ts";
import { checkingAt, memoryRegistry } from "../../../doubles/memory-registry.ts";

const Fixture = z.object({
  artifacts: z.object({ bundle: z.string(), simple: z.string() }),
  publicKey: z.string(),
  manifests: z.record(z.string(), z.object({ mediaType: z.string(), text: z.string() })),
  blobs: z.record(z.string(), z.string()),
});

/** What the command `cosign` wrote into a registry: see test/fixtures/signatures/README.md. */
const { artifacts, publicKey, manifests, blobs } = Fixture.parse(
  JSON.parse(await readFile(join(import.meta.dirname, "../../../fixtures/signatures/cosign.json"), "utf8")),
);

async function signed(digest: string) {
  const { client } = memoryRegistry();
  const signal = untilDeadline();
  for (const blob of Object.values(blobs)) await client.pushBlob("app", Buffer.from(blob, "base64"), signal);
  for (const [reference, { mediaType, text }] of Object.entries(manifests)) {
    await client.pushManifest("app", reference, mediaType, Buffer.from(text), signal);
  }
  return { registry: client, repository: "app", digest, reference: `registry.test/app@${digest}` };
}

test.each(Object.entries(artifacts))(
  "a signature that cosign 3.1.3 made with a key is valid: %s",
  async (_form, digest) => {
    const artifact = await signed(digest);
    await expect(verifyByKeys(artifact, new Map([["cosign.pub", publicKey]]), checkingAt())).resolves.toBeUndefined();
    const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "pem" });
    await expect(verifyByKeys(artifact, new Map([["a.pub", String(other)]]), checkingAt())).rejects.toThrow(
      "no matching signatures were found for",
    );
  },
);
