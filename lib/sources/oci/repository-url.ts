import { Failure } from "../../core/failure.ts";

/** The address of a repository: `host` with its port, and the name of the repository in that registry. */
export interface RepositoryAddress {
  readonly host: string;
  readonly repository: string;
}

const hostPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$/;
/** The characters that Flux's registry library accepts, as its message lists them. */
const repositoryCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_-./";
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const minRepositoryLength = 2;
export const maxRepositoryLength = 255;

/**
 * Reads an OCIRepository's `spec.url`, which must not have a tag or digest. Throws a {@link Failure} `URLInvalid` with the text of
 * Flux's registry library, if that refuses the name too.
 */
export function parseRepositoryUrl(url: string): RepositoryAddress {
  const named = url.replace(/^oci:\/\//, "");
  if (named === "") throw invalid(url, "a repository name must be specified");
  const [host, path] = cut(named, "/");
  // What names no registry is one of Docker Hub for Flux's library, and its whole name that of the repository.
  const isHost = path !== undefined && (/[.:]/.test(host) || host === "localhost");
  const repository = isHost ? path : named;
  if (repository.length < minRepositoryLength || repository.length > maxRepositoryLength) {
    const range = `between ${minRepositoryLength} and ${maxRepositoryLength}`;
    throw invalid(url, `repository must be ${range} characters in length: ${repository}`);
  }
  if (!/^[a-z0-9_./-]*$/.test(repository)) {
    throw invalid(url, `repository can only contain the characters \`${repositoryCharacters}\`: ${repository}`);
  }
  if (!isHost || !hostPattern.test(host)) throw badFormat(url);
  if (!repositoryPattern.test(repository)) throw badFormat(url);
  return { host, repository };
}

/** Reads the URL of a push, `oci://HOST/REPOSITORY:TAG`; the default tag is `latest`. */
export function parsePushUrl(url: string): RepositoryAddress & { readonly tag: string } {
  const { host, repository: named } = split(url);
  const [path, digest] = cut(named, "@");
  if (digest !== undefined) throw invalid(url, `URL must not contain a digest; remove '@${digest}'`);
  const [repository, tag = "latest"] = cut(path, ":");
  if (!hostPattern.test(host) || repository.length > maxRepositoryLength) throw badFormat(url);
  if (!repositoryPattern.test(repository)) throw badFormat(url);
  if (!tagPattern.test(tag)) throw invalid(url, `'${tag}' is not a valid tag`);
  return { host, repository, tag };
}

/** Splits an address at its first slash. */
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
