import { Failure } from "../../core/failure.ts";

/** Where a repository is: `host` with its port, and the repository's name inside that registry. */
export interface RepositoryAddress {
  readonly host: string;
  readonly repository: string;
}

const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$/;
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
export const maxRepositoryLength = 255;

/** Reads an OCIRepository's `spec.url`, which names a repository only. Throws a {@link Failure} `URLInvalid` with Flux's text. */
export function parseRepositoryUrl(url: string): RepositoryAddress {
  const { host, repository, tag, digest } = split(url);
  if (tag !== undefined || digest !== undefined) {
    const [what, text] = tag === undefined ? ["digest", `@${digest}`] : ["tag", `:${tag}`];
    throw invalid(url, `URL must not contain a ${what}; remove '${text}'`);
  }
  return { host, repository };
}

/** Reads a push's URL, `oci://HOST/REPOSITORY:TAG`; the tag is `latest` where none is given. */
export function parsePushUrl(url: string): RepositoryAddress & { readonly tag: string } {
  const { host, repository, tag = "latest", digest } = split(url);
  if (digest !== undefined) throw invalid(url, `URL must not contain a digest; remove '@${digest}'`);
  if (!tagPattern.test(tag)) throw invalid(url, `'${tag}' is no tag`);
  return { host, repository, tag };
}

function split(
  url: string,
): RepositoryAddress & { readonly tag: string | undefined; readonly digest: string | undefined } {
  const rest = url.startsWith("oci://") ? url.slice("oci://".length) : "";
  const [path, digest] = cut(rest, rest.indexOf("@"));
  const slash = path.indexOf("/");
  const colon = path.lastIndexOf(":");
  const [name, tag] = cut(path, colon > slash ? colon : -1);
  const host = name.slice(0, Math.max(0, slash));
  const repository = name.slice(slash + 1);
  if (slash <= 0 || !hostPattern.test(host) || repository.length > maxRepositoryLength) throw badFormat(url);
  if (!repositoryPattern.test(repository)) throw badFormat(url);
  return { host, repository, tag, digest };
}

function cut(text: string, at: number): [string, string | undefined] {
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function badFormat(url: string): Failure {
  return invalid(url, "URL must be in format 'oci://<domain>/<org>/<repo>'");
}

function invalid(url: string, why: string): Failure {
  return new Failure("URLInvalid", `URL validation failed for '${url}': ${why}`);
}
