import { z } from "zod";
import { digestOf } from "../../lib/core/digest.ts";
import { HttpError } from "../../lib/core/ports/http.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import type { RegistryClient } from "../../lib/sources/oci/registry-client.ts";
import { RegistryFault } from "../../lib/sources/oci/registry-fault.ts";
import { untilDeadline } from "../deadline.ts";

const Manifest = z.object({
  artifactType: z.string().optional(),
  subject: z.object({ digest: z.string() }).optional(),
});

/** A registry in memory, of one repository for all names. `asked` has the last part of each path that was read. */
export function memoryRegistry() {
  const manifests = new Map<string, { readonly bytes: Uint8Array; readonly mediaType: string }>();
  const blobs = new Map<string, Uint8Array>();
  const asked: string[] = [];
  const notHere = (): never => {
    throw new Error("not in this registry");
  };
  const missing = (path: string): RegistryFault => {
    const url = `https://registry.test/v2/app/${path}`;
    return new RegistryFault({ method: "GET", url }, { url, status: 404, headers: {}, body: new Uint8Array() }, 0);
  };
  const client: RegistryClient = {
    digestOfTag: notHere,
    tags: notHere,
    async manifest(_repository, reference) {
      asked.push(reference);
      const found = manifests.get(reference);
      if (found === undefined) throw missing(`manifests/${reference}`);
      return { ...found, digest: digestOf(found.bytes) };
    },
    async blob(_repository, digest, maxBytes) {
      asked.push(digest);
      const found = blobs.get(digest);
      if (found === undefined) throw missing(`blobs/${digest}`);
      if (found.length > maxBytes) throw new HttpError("too-large", `GET ${digest}: more than ${maxBytes} bytes`);
      return found;
    },
    async referrers(_repository, digest) {
      return [...manifests].flatMap(([reference, { bytes }]) => {
        const { artifactType, subject } = Manifest.parse(JSON.parse(Buffer.from(bytes).toString()));
        return subject?.digest === digest && reference === digestOf(bytes) ? [{ digest: reference, artifactType }] : [];
      });
    },
    async pushBlob(_repository, bytes) {
      blobs.set(digestOf(bytes), bytes);
    },
    async pushManifest(_repository, tag, mediaType, bytes) {
      const digest = digestOf(bytes);
      for (const reference of [tag, digest]) manifests.set(reference, { bytes, mediaType });
      return digest;
    },
  };
  return {
    asked,
    blobs,
    client,
    /** Pushes an artifact that is named by its content; answers what its signatures are looked for with. */
    async artifact(content = "app") {
      const signal = untilDeadline();
      const layer = Buffer.from(content);
      await client.pushBlob("app", layer, signal);
      const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest, layers: [{ digest: digestOf(layer) }] };
      const bytes = Buffer.from(JSON.stringify(manifest));
      const digest = await client.pushManifest("app", "latest", mediaTypes.manifest, bytes, signal);
      return { client, registry: client, repository: "app", digest, reference: `registry.test/app@${digest}` };
    },
  };
}

/** A check at this time; `refused` has the reasons why signatures were not taken. */
export function checkingAt(now = Date.UTC(2026, 10, 28)) {
  const refused: string[] = [];
  return { now, signal: untilDeadline(), reasons: refused, refused: (why: string) => void refused.push(why) };
}
