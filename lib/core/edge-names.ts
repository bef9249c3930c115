import { formatWorkKey, type WorkKey } from "./work-key.ts";

/** The edge on which a source announces new artifacts. */
export function sourceEdge(source: WorkKey): string {
  return `src#${formatWorkKey(source)}`;
}

/** The edge on which a Kustomization announces that it is ready. */
export function readyEdge(key: WorkKey): string {
  return `dep#${formatWorkKey(key)}`;
}

/** The edge on which an owner of objects announces that it has let go of objects that others may have to delete. */
export function releaseEdge(owner: WorkKey): string {
  return `claim#${formatWorkKey(owner)}`;
}

/** The edge on which a registry announces pushes to a repository; `host` as sources name it. */
export function repositoryEdge(host: string, repository: string): string {
  return `repo#${host}/${repository}`;
}
