import { RegistryError } from "./registry-error.ts";

/** The resource that a path of the distribution API names. */
export type Route =
  | { readonly to: "base" }
  | { readonly to: "catalog" }
  | { readonly to: "uploads"; readonly repository: string }
  | { readonly to: "upload"; readonly repository: string; readonly id: string }
  | { readonly to: "blob"; readonly repository: string; readonly digest: string }
  | { readonly to: "manifest"; readonly repository: string; readonly reference: Reference }
  | { readonly to: "tags"; readonly repository: string }
  | { readonly to: "referrers"; readonly repository: string; readonly digest: string };

export type Reference = { readonly tag: string } | { readonly digest: string };

const namePattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const digestPattern = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const uploadPattern = /^[0-9a-f-]{36}$/;
const maxNameLength = 255;

/** Parses a path; undefined if the API has no such path. Throws a {@link RegistryError} for a bad name, tag or digest. */
export function parseRoute(path: string): Route | undefined {
  if (path === "/v2/" || path === "/v2") return { to: "base" };
  if (path === "/v2/_catalog" || path === "/v2/_catalog/") return { to: "catalog" };
  const [, name, kind, rest = ""] =
    /^\/v2\/(.+)\/(blobs\/uploads|blobs|manifests|tags|referrers)(?:\/([^/]*))?$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  const repository = parseName(name);
  if (kind === "blobs/uploads") {
    if (rest === "") return { to: "uploads", repository };
    if (!uploadPattern.test(rest))
      throw new RegistryError(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry");
    return { to: "upload", repository, id: rest };
  }
  if (kind === "blobs") return { to: "blob", repository, digest: parseDigest(rest) };
  if (kind === "manifests") return { to: "manifest", repository, reference: parseReference(rest) };
  if (kind === "referrers") return { to: "referrers", repository, digest: parseDigest(rest) };
  return rest === "list" ? { to: "tags", repository } : undefined;
}

export function parseName(name: string): string {
  if (name.length <= maxNameLength && namePattern.test(name)) return name;
  throw new RegistryError(400, "NAME_INVALID", "invalid repository name", { name });
}

export function parseDigest(text: string): string {
  if (digestPattern.test(text)) return text;
  throw new RegistryError(400, "DIGEST_INVALID", "provided digest is neither sha256 nor sha512 in lower-case hex", {
    digest: text,
  });
}

function parseReference(text: string): Reference {
  if (text.includes(":")) return { digest: parseDigest(text) };
  if (tagPattern.test(text)) return { tag: text };
  throw new RegistryError(400, "TAG_INVALID", "manifest tag is not legal", { tag: text });
}
