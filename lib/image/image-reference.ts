import type { RepositoryAddress } from "../sources/oci/repository-url.ts";

/** The repository that `spec.image` of an ImageRepository names. */
export interface ImageRepositoryName extends RepositoryAddress {
  /** `index.docker.io/library/alpine`. */
  readonly canonical: string;
}

/** Why a text names no repository, in the words of Flux. */
export class ImageReferenceFault extends Error {
  override readonly name = "ImageReferenceFault";
}

const dockerHub = "index.docker.io";
const maxRepositoryLength = 255;
const maxTagLength = 128;

/**
 * Reads `spec.image` as Flux's registry library does (reference image-automation 2.7). Throws an {@link ImageReferenceFault} for what
 * it refuses, and for a scheme, a tag or a digest.
 */
export function parseImageRepository(image: string): ImageRepositoryName {
  const scheme = image.indexOf("://");
  if (scheme !== -1) {
    const text = image.slice(0, scheme);
    throw new ImageReferenceFault(`image '${image}' should not include URL scheme; remove '${text}://'`);
  }
  const found = withTag(image) ?? withDigest(image);
  if (found === undefined) throw new ImageReferenceFault(`could not parse reference: ${image}`);
  // As Flux: of what follows the registry, the part between the first two colons.
  const path = image.startsWith(found.host) ? image.slice(found.host.length) : image;
  const [, tag] = path.split(":");
  if (tag !== undefined) {
    throw new ImageReferenceFault(`image '${image}' should not include a tag; remove ':${tag}'`);
  }
  // A part of that name would lead the request to another repository than the one that access was checked for.
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(found.repository)) {
    throw new ImageReferenceFault(`image '${image}' has a part '.' or '..', which no repository has; remove it`);
  }
  return found;
}

function withTag(text: string): ImageRepositoryName | undefined {
  const colon = text.lastIndexOf(":");
  const hasTag = colon !== -1 && !text.slice(colon).includes("/");
  if (!hasTag) return repositoryIn(text);
  const tag = text.slice(colon + 1);
  return tag.length <= maxTagLength && /^[\w.-]+$/.test(tag) ? repositoryIn(text.slice(0, colon)) : undefined;
}

function withDigest(text: string): ImageRepositoryName | undefined {
  const [base = "", digest, ...more] = text.split("@");
  if (digest === undefined || more.length > 0 || !/^sha256:[0-9a-f]{64}$/.test(digest)) return undefined;
  return withTag(base) ?? repositoryIn(base);
}

function repositoryIn(name: string): ImageRepositoryName | undefined {
  const slash = name.indexOf("/");
  const first = slash === -1 ? "" : name.slice(0, slash);
  const isHost = first === "localhost" || /[.:]/.test(first);
  const path = isHost ? name.slice(slash + 1) : name;
  if (path.length > maxRepositoryLength || !/^[a-z0-9_./-]+$/.test(path)) return undefined;
  if (isHost && !isAuthority(first)) return undefined;
  const host = !isHost || first === "docker.io" ? dockerHub : first;
  const repository = host === dockerHub && !path.includes("/") ? `library/${path}` : path;
  return { host, repository, canonical: `${host}/${repository}` };
}

/** `host` or `host:port`, as Go's `url.Parse` takes it. */
function isAuthority(text: string): boolean {
  return /^(?:[\w.~!$&'()*+,;=-]+|\[[0-9a-fA-F:.]+\])(?::\d*)?$/.test(text) && URL.canParse(`https://${text}/`);
}
