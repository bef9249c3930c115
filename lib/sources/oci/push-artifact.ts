import { digestOf } from "../../core/digest.ts";
import { gzip } from "../archive/gzip.ts";
import { parseIgnoreFile } from "../archive/ignore-pattern.ts";
import { ignoreBy, mediaPatterns, vcsPatterns } from "../archive/ignore-rules.ts";
import { packTar } from "../archive/pack-tar.ts";
import { annotations, mediaTypes } from "./media-types.ts";
import { readFolder, singleFile } from "./read-folder.ts";
import type { RegistryAccess } from "./registry-access.ts";
import type { RegistryClient } from "./registry-client.ts";
import { parsePushUrl } from "./repository-url.ts";

export interface ArtifactToPush {
  /** `oci://HOST/REPOSITORY:TAG`. */
  readonly url: string;
  /** A folder, or a single file. */
  readonly path: string;
  /** What the file holds, where `path` is only the name of one that is not on the disk. */
  readonly content?: Uint8Array;
  /** Packs what symbolic links point to in their place. */
  readonly resolveSymlinks?: boolean;
  /** Where the content comes from, for example a git URL. */
  readonly source: string;
  /** By convention `<branch or tag>@sha1:<commit>`. */
  readonly revision: string;
  /** More annotations; they win over our own. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Ignore patterns in place of Flux's default (version control, pictures, archives). */
  readonly ignorePaths?: readonly string[];
  readonly addIgnorePaths?: readonly string[];
  /** Written as the time of creation. The default is the epoch, so that the same input has the same digest. */
  readonly createdAt?: Date;
}

export interface PushedArtifact {
  /** `oci://HOST/REPOSITORY@sha256:…`. */
  readonly url: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
  readonly skippedLinks: readonly string[];
}

/** The user agent of Flux's own command, which some registries' statistics look for. */
export const pushUserAgent = "flux/v2";

/** Does what `flux push artifact --reproducible` does: packs a folder as a Flux artifact and pushes it under a tag. */
export async function pushArtifact(
  artifact: ArtifactToPush,
  connect: (access: Pick<RegistryAccess, "host">) => RegistryClient,
  signal: AbortSignal,
): Promise<PushedArtifact> {
  const { host, repository, tag } = parsePushUrl(artifact.url);
  const patterns =
    artifact.ignorePaths === undefined ? [...vcsPatterns, ...mediaPatterns] : lines(artifact.ignorePaths);
  const ignore = ignoreBy([...patterns, ...lines(artifact.addIgnorePaths ?? [])]);
  const { path, content, resolveSymlinks = false } = artifact;
  const folder = content === undefined ? readFolder(path, { ignore, resolveSymlinks }) : singleFile(path, content);
  const { rootMode, entries, skippedLinks } = await folder;
  const tar = Buffer.concat([...packTar(entries, rootMode)]);
  const layer = await gzip([tar]);
  const created = `${(artifact.createdAt ?? new Date(0)).toISOString().slice(0, 19)}Z`;
  const config = encode(imageConfig(digestOf(tar), created));
  const manifest = encode({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.fluxConfig, size: config.length, digest: digestOf(config) },
    layers: [{ mediaType: mediaTypes.fluxContent, size: layer.length, digest: digestOf(layer) }],
    annotations: sorted({
      [annotations.created]: created,
      [annotations.source]: artifact.source,
      [annotations.revision]: artifact.revision,
      ...artifact.annotations,
    }),
  });
  const client = connect({ host });
  await client.pushBlob(repository, layer, signal);
  await client.pushBlob(repository, config, signal);
  const digest = await client.pushManifest(repository, tag, mediaTypes.manifest, manifest, signal);
  return {
    url: `oci://${host}/${repository}@${digest}`,
    repository: `${host}/${repository}`,
    tag,
    digest,
    skippedLinks,
  };
}

/** An image config that says nothing but what the layer unpacks to, in the order of Go's struct. */
function imageConfig(diffId: string, created: string): object {
  return {
    architecture: "",
    created,
    history: [{ created: "0001-01-01T00:00:00Z" }],
    os: "",
    rootfs: { type: "layers", diff_ids: [diffId] },
    config: {},
  };
}

function lines(patterns: readonly string[]): ReturnType<typeof parseIgnoreFile> {
  return parseIgnoreFile(patterns.join("\n"));
}

function sorted(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function encode(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
