import { Failure } from "../../core/failure.ts";

/** Where a repository is: `host` with its port, and the repository's name inside that registry. */
export interface RepositoryAddress {
  readonly host: string;
  readonly repository: string;
}

const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$/;
/** What Flux's registry library takes; it says so of any other. */
const repositoryCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-./";
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
export const maxRepositoryLength = 255;

/**
 * Reads an OCIRepository's `spec.url`, which names a repository only. Throws a {@link Failure} `URLInvalid`, in the words of
 * Flux's registry library where that refuses the name too, as it does a tag or digest at its end.
 */
export function parseRepositoryUrl(url: string): RepositoryAddress {
  const { host, repository } = split(url);
  if (!hostPattern.test(host)) throw badFormat(url);
  if (repository.length < 1 || repository.length > maxRepositoryLength) {
    throw invalid(url, `repository must be between 1 and ${maxRepositoryLength} characters in length: ${repository}`);
  }
  if (!/^[a-z0-9_./-]*$/.test(repository)) {
    throw invalid(url, `repository can only contain the characters \`${repositoryCharacters}\`: ${repository}`);
  }
  if (!repositoryPattern.test(repository)) throw badFormat(url);
  return { host, repository };
}

/** Reads a push's URL, `oci://HOST/REPOSITORY:TAG`; the tag is `latest` where none is given. */
export function parsePushUrl(url: string): RepositoryAddress & { readonly tag: string } {
  const { host, repository: named } = split(url);
  const [path, digest] = cut(named, "@");
  if (digest !== undefined) throw invalid(url, `URL must not contain a digest; remove '@${digest}'`);
  const [repository, tag = "latest"] = cut(path, ":");
  if (!hostPattern.test(host) || repository.length > maxRepositoryLength) throw badFormat(url);
  if (!repositoryPattern.test(repository)) throw badFormat(url);
  if (!tagPattern.test(tag)) throw invalid(url, `'${tag}' is no tag`);
  return { host, repository, tag };
}

/** What stands before the first slash of an address, and all behind it. */
function split(url: string): RepositoryAddress {
  const scheme = "oci://";
  const [host, repository] = cut(url.startsWith(scheme) ? url.slice(scheme.length) : "", "/");
  if (repository === undefined) throw badFormat(url);
  return { host, repository };
}

function cut(text: string, at: string): [string, string | undefined] {
  const index = text.indexOf(at);
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

function badFormat(url: string): Failure {
  return invalid(url, "URL must be in format 'oci://<domain>/<org>/<repo>'");
}

function invalid(url: string, why: string): Failure {
  return new Failure("URLInvalid", `URL validation failed for '${url}': ${why}`);
}
