import { z } from "zod";
import { messageOf } from "../../lib/core/failure.ts";
import { fieldFault, fieldFaults, limitedList, limitedMap } from "../../lib/core/validation.ts";
import { mediaTypes } from "../../lib/sources/oci/media-types.ts";
import { maxIndexChildren, maxLayers, maxManifestAnnotations } from "../../lib/sources/oci/pull-artifact.ts";
import { RegistryError } from "./registry-error.ts";

const Descriptor = z.object({
  mediaType: z.string().optional(),
  digest: z.string(),
  size: z.number(),
  urls: z.array(z.string()).optional(),
});

/** The fields of a manifest or an index that the registry reads. The bytes are stored unchanged. */
const ManifestContent = z.object({
  schemaVersion: z.number().default(0),
  mediaType: z.string().default(""),
  artifactType: z.string().optional(),
  config: Descriptor.optional(),
  layers: limitedList(Descriptor, maxLayers).optional(),
  manifests: limitedList(Descriptor, maxIndexChildren).optional(),
  subject: Descriptor.optional(),
  annotations: limitedMap(z.string(), maxManifestAnnotations).optional(),
});
export type ManifestContent = z.infer<typeof ManifestContent>;

/**
 * Reads what was pushed as `mediaType`, a type without parameters.
 *
 * @throws {RegistryError} 400 MANIFEST_INVALID for what the CNCF registry refuses (`unmarshalOCISchema`, `unmarshalImageIndex`
 * and their like in `distribution/v3/manifest`), in its words, which are the error's detail. It answers another `schemaVersion`
 * with 500, which is not an answer to a bad push.
 */
export function parsePushed(bytes: Buffer, mediaType: string): ManifestContent {
  const form = forms.get(mediaType);
  if (form === undefined) throw invalid(`unsupported manifest media type and no default available: ${mediaType}`);
  const content = parseManifest(bytes);
  const fault = faultOf(content, mediaType, form);
  if (fault !== undefined) throw invalid(fault);
  return content;
}

/** Reads what is stored: an earlier release took some that {@link parsePushed} refuses. Throws as that does. */
export function parseManifest(bytes: Buffer): ManifestContent {
  const content = ManifestContent.safeParse(jsonOf(bytes), { error: fieldFault });
  if (!content.success) throw invalid(fieldFaults(content.error));
  return content.data;
}

/** What a media type stands for, and the CNCF registry's words about one that is something else. */
interface Form {
  readonly name: "manifest" | "manifest list" | "image index";
  readonly isIndex: boolean;
  /** Docker's types have to stand in the content too. */
  readonly isNamedInside: boolean;
}

const forms: ReadonlyMap<string, Form> = new Map([
  [mediaTypes.manifest, { name: "manifest", isIndex: false, isNamedInside: false }],
  [mediaTypes.index, { name: "image index", isIndex: true, isNamedInside: false }],
  [mediaTypes.dockerManifest, { name: "manifest", isIndex: false, isNamedInside: true }],
  [mediaTypes.dockerIndex, { name: "manifest list", isIndex: true, isNamedInside: true }],
]);

function faultOf(
  content: ManifestContent,
  mediaType: string,
  { name, isIndex, isNamedInside }: Form,
): string | undefined {
  if (isIndex && (content.config !== undefined || content.layers !== undefined)) {
    return "index: expected index but found manifest";
  }
  if (!isIndex && content.manifests !== undefined) return "ocimanifest: expected manifest but found index";
  if (content.mediaType !== mediaType && (isNamedInside || content.mediaType !== "")) {
    const condition = isNamedInside ? "" : "if present, ";
    return `${condition}mediaType in ${name} should be '${mediaType}' not '${content.mediaType}'`;
  }
  if (content.schemaVersion !== 2) {
    return isIndex
      ? `unrecognized manifest list schema version ${content.schemaVersion}, expected 2`
      : `unrecognized manifest schema version ${content.schemaVersion}`;
  }
  return isIndex || content.config !== undefined ? undefined : "config is missing";
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    throw invalid(`it is not JSON: ${messageOf(error)}`);
  }
}

function invalid(detail: string): RegistryError {
  return new RegistryError(400, "MANIFEST_INVALID", "manifest invalid", detail);
}
