import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type ManifestContent, parseManifest, parsePushed } from "./manifest-content.ts";
import { RegistryError } from "./registry-error.ts";
import {
  namesIn,
  type RegistryFiles,
  readIfThere,
  removeFile,
  repositoriesIn,
  sizeIfThere,
  writeWhole,
} from "./registry-files.ts";
import { parseDigest, type Reference } from "./route.ts";

export const maxManifestBytes = 4 * 1024 * 1024;

interface StoredManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export interface Manifests {
  get(repository: string, reference: Reference): Promise<StoredManifest>;
  put(
    repository: string,
    reference: Reference,
    mediaType: string,
    bytes: Buffer,
  ): Promise<{ readonly digest: string; readonly subject: string | undefined }>;
  /** By digest the manifest and every tag that names it; by tag the tag alone. */
  remove(repository: string, reference: Reference): Promise<void>;
  /** Whether anything was ever pushed to this repository. */
  knows(repository: string): Promise<boolean>;
  tags(repository: string): Promise<readonly string[]>;
  /** Every repository that a manifest was ever pushed to, by the parts of its name. */
  repositories(): Promise<readonly string[]>;
  /** Descriptors of everything whose `subject` this digest is. */
  referrers(repository: string, subject: string): Promise<readonly object[]>;
}

export function manifestsIn(files: RegistryFiles): Manifests {
  const resolve = async (repository: string, reference: Reference): Promise<string> => {
    if ("digest" in reference) return reference.digest;
    const digest = await readIfThere(files.tag(repository, reference.tag));
    if (digest === undefined) throw unknownManifest(repository, reference);
    return digest.toString();
  };
  const get: Manifests["get"] = async (repository, reference) => {
    const digest = await resolve(repository, reference);
    const mediaType = await readIfThere(files.manifest(repository, digest));
    const bytes = mediaType && (await readIfThere(files.blob(digest)));
    if (mediaType === undefined || bytes === undefined) throw unknownManifest(repository, reference);
    return { digest, mediaType: mediaType.toString(), bytes };
  };
  const tags: Manifests["tags"] = async (repository) => namesIn(files.tags(repository));
  return {
    get,
    tags,
    repositories: () => repositoriesIn(files),
    knows: async (repository) => (await sizeIfThere(files.manifests(repository))) !== undefined,
    async put(repository, reference, mediaType, bytes) {
      const digest = digestLike("digest" in reference ? reference.digest : "sha256:", bytes);
      if ("digest" in reference && reference.digest !== digest) {
        throw new RegistryError(400, "DIGEST_INVALID", "provided digest did not match uploaded content", {
          Digest: reference.digest,
          Reason: `content is ${digest}`,
        });
      }
      const content = parsePushed(bytes, mediaType);
      await requireParts(files, repository, content);
      await writeWhole(files, files.blob(digest), bytes);
      await writeWhole(files, files.manifest(repository, digest), mediaType);
      const subject = content.subject && parseDigest(content.subject.digest);
      if (subject !== undefined) {
        await writeWhole(files, join(files.referrers(repository, subject), digest.replace(":", "-")), digest);
      }
      if ("tag" in reference) await writeWhole(files, files.tag(repository, reference.tag), digest);
      return { digest, subject };
    },
    async remove(repository, reference) {
      if ("tag" in reference) {
        if (!(await removeFile(files.tag(repository, reference.tag)))) throw unknownManifest(repository, reference);
        return;
      }
      const stored = await get(repository, reference);
      const subject = parseManifest(stored.bytes).subject?.digest;
      for (const tag of await tags(repository)) {
        const path = files.tag(repository, tag);
        if ((await readIfThere(path))?.toString() === stored.digest) await rm(path, { force: true });
      }
      await rm(files.manifest(repository, stored.digest), { force: true });
      if (subject !== undefined) {
        await rm(join(files.referrers(repository, subject), stored.digest.replace(":", "-")), { force: true });
      }
    },
    async referrers(repository, subject) {
      const folder = files.referrers(repository, subject);
      const found: object[] = [];
      for (const name of await namesIn(folder)) {
        const digest = await readIfThere(join(folder, name));
        if (digest !== undefined) found.push(descriptorOf(await get(repository, { digest: digest.toString() })));
      }
      return found;
    },
  };
}

async function requireParts(files: RegistryFiles, repository: string, content: ManifestContent): Promise<void> {
  const blobs = [...(content.config ? [content.config] : []), ...(content.layers ?? [])];
  const wanted = [
    // A layer with urls lives elsewhere and is never uploaded.
    ...blobs
      .filter(({ urls }) => urls === undefined)
      .map(({ digest }) => files.blobLink(repository, parseDigest(digest))),
    ...(content.manifests ?? []).map(({ digest }) => files.manifest(repository, parseDigest(digest))),
  ];
  for (const path of wanted) {
    if ((await sizeIfThere(path)) === undefined) {
      const digest = path.slice(path.lastIndexOf("/") + 1).replace("-", ":");
      throw new RegistryError(404, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry", { Digest: digest });
    }
  }
}

function descriptorOf({ digest, mediaType, bytes }: StoredManifest): object {
  const { artifactType, config, annotations } = parseManifest(bytes);
  return { mediaType, digest, size: bytes.length, artifactType: artifactType ?? config?.mediaType, annotations };
}

function digestLike(like: string, bytes: Buffer): string {
  const algorithm = like.startsWith("sha512:") ? "sha512" : "sha256";
  return `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`;
}

function unknownManifest(repository: string, reference: Reference): RegistryError {
  const detail = "tag" in reference ? { Tag: reference.tag } : { Name: repository, Revision: reference.digest };
  return new RegistryError(404, "MANIFEST_UNKNOWN", "manifest unknown", detail);
}
