import { canonicalRegistryHost } from "./ecr-registry.ts";
import { formatWorkKey, type WorkKey } from "./work-key.ts";

/** The topic on which a source announces new artifacts. */
export function sourceTopic(source: WorkKey): string {
  return `src#${formatWorkKey(source)}`;
}

/** The topic on which a Kustomization announces that it is ready. */
export function readyTopic(key: WorkKey): string {
  return `dep#${formatWorkKey(key)}`;
}

/** The topic on which an owner announces that it has released its claims on objects, which other owners may then have to delete. */
export function releaseTopic(owner: WorkKey): string {
  return `claim#${formatWorkKey(owner)}`;
}

/**
 * The topic on which a registry announces pushes to a repository; `host` as sources name it. All hosts of an ECR registry
 * (dual-stack, FIPS) give the same one.
 */
export function repositoryTopic(host: string, repository: string): string {
  return `repo#${canonicalRegistryHost(host)}/${repository}`;
}

/** The kinds of objects that hold configuration for other objects. */
export type ConfigKind = "ConfigMap" | "Secret";

/** The topic on which a ConfigMap or Secret announces that it has changed, if it is labelled to be watched. */
export function configTopic(
  object: Pick<WorkKey, "cluster" | "namespace" | "name"> & { readonly kind: ConfigKind },
): string {
  const { cluster, kind, namespace, name } = object;
  return `cfg#${cluster}/${kind}/${namespace}/${name}`;
}

/**
 * The topic on which a git server announces that a ref has moved. All addresses of one repository give the same topic: scheme, user,
 * port, `.git`, trailing slashes and the case of the host do not matter, and `git@host:path` is `ssh://git@host/path`.
 */
export function gitTopic(url: string): string {
  const [address = ""] = url.split(/[?#]/u, 1);
  const [, rest = ""] = /^[a-z][a-z0-9+.-]*:\/\/(.*)$/isu.exec(address) ?? ["", address.replace(scpColon, "$1/")];
  const [authority = "", ...path] = rest.split("/");
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/u, "");
  const names = path.filter((name) => name !== "").map(decoded);
  return `git#${[host.toLowerCase(), ...names].join("/").replace(/\.git$/u, "")}`;
}

/** In `user@host:path`, which has no scheme, a colon ends the host. */
const scpColon = /^([^/:[]+|[^/[]*\[[^\]/]*\]):\/*/u;

/**
 * A part of a path with its URL escapes decoded; unchanged if the escapes are invalid, or if it would contain a character that no part may
 * contain.
 */
function decoded(part: string): string {
  try {
    const text = decodeURIComponent(part);
    return /[/\p{Cc}]/u.test(text) ? part : text;
  } catch {
    return part;
  }
}

/** The topic on which S3 announces that objects of a bucket were created or deleted. */
export function bucketTopic(bucket: string): string {
  return `s3#${bucket}`;
}

/**
 * The topic on which objects of a kind in a namespace announce that they were created or deleted, or that their labels or annotations
 * changed.
 */
export function selectionTopic(objects: Pick<WorkKey, "cluster" | "group" | "kind" | "namespace">): string {
  const { cluster, group, kind, namespace } = objects;
  return `meta#${cluster}/${group}/${kind}/${namespace}`;
}

/** The topic on which an object whose settings other objects use announces that its spec changed, or that it was created or deleted. */
export function specTopic(key: WorkKey): string {
  return `spec#${formatWorkKey(key)}`;
}

/** The topic on which an object that a Canary releases, or manages for itself, announces that it has changed. */
export function objectTopic(object: WorkKey): string {
  return `obj#${formatWorkKey(object)}`;
}
