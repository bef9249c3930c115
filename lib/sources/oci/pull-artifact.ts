import { z } from "zod";
import type { OciRepositorySpec } from "../../api/oci-repository.ts";
import { type Digest, digestOf } from "../../core/digest.ts";
import { Failure, messageOf } from "../../core/failure.ts";
import { fieldFault, fieldFaults, limitedList, limitedMap, pathText } from "../../core/validation.ts";
import { archiveTree, archiveUnread } from "../archive/archive-tree.ts";
import { type ArchiveLimits, unpack, withLinksFollowed } from "../archive/unpack.ts";
import { mediaTypes } from "./media-types.ts";
import type { RegistryClient } from "./registry-client.ts";
import { failureOf, jsonOf } from "./registry-fault.ts";

/** An artifact as it is stored for a source. */
export interface PulledArtifact {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
  /** The manifest's annotations. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Links in the layer that were not followed, since the installation wants Flux's way. */
  readonly links: readonly string[];
}

/** Of a manifest. An image has at most 127 layers, an artifact of Flux has one. */
export const maxLayers = 1_000;
/** The limit for an index, which has one child for each platform. */
export const maxIndexChildren = 1_000;
/** Of a manifest. They go into the status of the source; an API server accepts objects of up to 1.5 MB. */
export const maxManifestAnnotations = 1_000;
export const maxManifestAnnotationBytes = 256 * 1024;

const mend = "put a file in its place, or leave it out with spec.ignore";

const Descriptor = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hexadecimal digits"),
  size: z.number(),
});
const Platform = z.object({ os: z.string(), architecture: z.string() });
const Manifest = z.object({
  layers: limitedList(Descriptor, maxLayers).default([]),
  annotations: limitedMap(z.string(), maxManifestAnnotations)
    .refine(
      (annotations) => Buffer.byteLength(JSON.stringify(annotations)) <= maxManifestAnnotationBytes,
      `has more than ${maxManifestAnnotationBytes} bytes`,
    )
    .default({}),
});
const Index = z.object({
  manifests: limitedList(Descriptor.extend({ platform: Platform.optional() }), maxIndexChildren),
});

/**
 * Pulls the manifest with this digest, chooses its layer and makes the artifact from it (reference 3.3, steps 7 to 9). If the
 * digest is that of an index, its linux/amd64 child is used. Throws a {@link Failure} with Flux's reason and text.
 */
export async function pullArtifact(
  spec: Pick<OciRepositorySpec, "ignore" | "layerSelector" | "url">,
  repository: string,
  digest: string,
  registry: RegistryClient,
  limits: ArchiveLimits & { readonly skipLinks?: boolean },
  signal: AbortSignal,
): Promise<PulledArtifact> {
  const manifest = await pullManifest(spec.url, repository, digest, registry, signal);
  const layer = chooseLayer(manifest.layers, spec.layerSelector?.mediaType);
  const isCopy = spec.layerSelector?.operation === "copy";
  const failed = (error: unknown): unknown => {
    const what = isCopy ? "copy layer" : "extract layer contents";
    const text = `failed to ${what} from artifact: ${messageOf(error)}`;
    if (error instanceof RangeError) return new Failure("OCIArtifactLayerOperationFailed", text, { cause: error });
    return failureOf("OCIArtifactLayerOperationFailed", text, error, signal);
  };
  try {
    if (layer.size > limits.maxPackedBytes) {
      throw new RangeError(`the layer has ${layer.size} bytes, ${limits.maxPackedBytes} are allowed`);
    }
    const packed = await registry.blob(repository, layer.digest, limits.maxPackedBytes, signal);
    const { annotations: metadata } = manifest;
    if (isCopy) return { bytes: packed, digest: digestOf(packed), metadata, links: [] };
    const unpacked = await unpack(packed, limits, signal);
    const { entries, links } = unpacked;
    const isFollowed = links.length > 0 && limits.skipLinks !== true;
    const bytes = isFollowed
      ? await archiveUnread(await withLinksFollowed(unpacked, { limits, mend }, signal), spec.ignore, signal)
      : await archiveTree(entries, spec.ignore, signal);
    const skipped = isFollowed ? [] : links.map(({ path }) => path);
    return { bytes, digest: digestOf(bytes), metadata, links: skipped };
  } catch (error) {
    throw failed(error);
  }
}

async function pullManifest(
  url: string,
  repository: string,
  digest: string,
  registry: RegistryClient,
  signal: AbortSignal,
): Promise<z.infer<typeof Manifest>> {
  const pull = async (wanted: string): Promise<{ readonly mediaType: string; readonly json: unknown }> => {
    try {
      const { bytes, mediaType } = await registry.manifest(repository, wanted, signal);
      return { mediaType: mediaType.split(";", 1).join("").trim(), json: jsonOf(bytes) };
    } catch (error) {
      throw failureOf(
        "OCIArtifactPullFailed",
        `failed to pull artifact from '${url}': ${messageOf(error)}`,
        error,
        signal,
      );
    }
  };
  let found = await pull(digest);
  if (found.mediaType === mediaTypes.index || found.mediaType === mediaTypes.dockerIndex) {
    const child = Index.safeParse(found.json).data?.manifests.find(
      // A child without a platform counts as one for linux/amd64.
      ({ platform }) => platform === undefined || (platform.os === "linux" && platform.architecture === "amd64"),
    );
    if (child === undefined) {
      const why = `no child with platform linux/amd64 in index ${url.replace(/^oci:\/\//, "")}@${digest}`;
      throw new Failure("OCIArtifactPullFailed", `failed to pull artifact from '${url}': ${why}`);
    }
    found = await pull(child.digest);
  }
  const parsed = Manifest.safeParse(found.json, { error: fieldFault });
  if (parsed.success) return parsed.data;
  const why = found.json === undefined ? "it is not JSON" : fieldFaults(parsed.error, fieldOf);
  throw new Failure("OCIArtifactLayerOperationFailed", `failed to parse artifact manifest: ${why}`);
}

/** The path of a field, without the keys of annotations: a registry can put any text there. */
function fieldOf(path: readonly PropertyKey[]): string {
  const isInAnnotations = path[0] === "annotations" && path.length > 1;
  return isInAnnotations ? "a value of annotations" : pathText(path);
}

function chooseLayer(
  layers: readonly z.infer<typeof Descriptor>[],
  mediaType: string | undefined,
): z.infer<typeof Descriptor> {
  const [first] = layers;
  if (first === undefined) throw new Failure("OCIArtifactLayerOperationFailed", "no layers found in artifact");
  if (mediaType === undefined || mediaType === "") return first;
  const found = layers.find((layer) => layer.mediaType === mediaType);
  if (found !== undefined) return found;
  throw new Failure(
    "OCIArtifactLayerOperationFailed",
    `failed to find layer with media type '${mediaType}' in artifact`,
  );
}
