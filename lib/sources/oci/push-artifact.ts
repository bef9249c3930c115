import { digestOf } from "../../core/digest.ts";
import { ignoreBy, mediaPatterns, parseIgnoreFile, vcsPatterns } from "../archive/ignore-rules.ts";
import type { TreeEntry } from "../archive/pack-tar.ts";
import { gzip, packTar } from "../archive/pack-tar.ts";
import type { RegistryAccess } from "./authorize.ts";
import { annotations, mediaTypes } from "./media-types.ts";
import { readFolder, singleFile } from "./read-folder.ts";
import type { RegistryClient } from "./registry-client.ts";
import { parsePushUrl } from "./repository-url.ts";

export interface ArtifactToPush {
  /** `oci://HOST/REPOSITORY:TAG`. */
  readonly url: string;
  /** A folder, or a single file. */
  readonly path: string;
  /** The content of the file, if `path` is only a name and there is no such file on the disk. */
  readonly content?: Uint8Array;
  /** Packs the targets of symbolic links in their place. */
  readonly resolveSymlinks?: boolean;
  /** Where the content comes from, for example a git URL. */
  readonly source: string;
  /** By convention `<branch or tag>@sha1:<commit>`. */
  readonly revision: string;
  /** Additional annotations; they win over ours. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Ignore patterns in place of Flux's default (version control, pictures, archives). */
  readonly ignorePaths?: readonly string[];
  readonly addIgnorePaths?: readonly string[];
  /** Written as the time of creation. The default is the epoch, so that the same input has the same digest. */
  readonly createdAt?: Date;
  /** Called with the files before anything is sent; if it throws, the push ends. */
  readonly inspect?: (entries: readonly TreeEntry[]) => Promise<void>;
}

export interface PushedArtifact {
  /** `oci://HOST/REPOSITORY@sha256:…`. */
  readonly url: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
  readonly skippedLinks: readonly string[];
}

/** The user agent of the `flux` command, which some registries count in their statistics. */
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
  await artifact.inspect?.(entries);
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

/** An image config with only the digest of the unpacked layer, in the field order of Go's struct. */
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
