import { isEcrHost } from "../../lib/aws/ecr/ecr-host.ts";
import { canonicalRegistryHost } from "../../lib/core/ecr-registry.ts";
import { isCodeCommitHost } from "../../lib/sources/git/codecommit-host.ts";

/** Repositories by namespace; a `*` at the end stands for anything. */
export type AllowedRepositories = Readonly<Record<string, readonly string[]>>;

/**
 * Whether objects of a namespace may use our identity for `host/repository`. Nothing is allowed that is not listed. A registry of ECR is
 * the same by each of its hosts (dual-stack, FIPS), and so is the token for it.
 */
export function isAllowedRepository(allowed: AllowedRepositories, namespace: string, repository: string): boolean {
  const patterns = Object.hasOwn(allowed, namespace) ? (allowed[namespace] ?? []) : [];
  const wanted = canonical(repository);
  return patterns
    .map(canonical)
    .some((pattern) => (pattern.endsWith("*") ? wanted.startsWith(pattern.slice(0, -1)) : wanted === pattern));
}

function canonical(repository: string): string {
  const [host = "", ...path] = repository.split("/");
  return [canonicalRegistryHost(host), ...path].join("/");
}

/**
 * Whether this names repositories of one registry of ECR, or of CodeCommit in one region: the whole host, a slash, and a path or the
 * beginning of some.
 */
export function isRepositoryPattern(text: string): boolean {
  const [, host = "", path = ""] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (isCodeCommitHost(host)) return /^v1\/repos\/(?:[A-Za-z0-9._-]+\*?|\*)$/.test(path);
  return isEcrHost(host) && /^(?:[a-z0-9][a-z0-9._/-]*)?\*?$/.test(path) && path !== "";
}
