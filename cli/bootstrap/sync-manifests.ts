import { kustomizeGroup, sourceGroup } from "../../lib/api/names.ts";
import type { JsonObject } from "../../lib/core/json.ts";
import type { Manifest } from "../../lib/core/manifest.ts";

/** Names the cluster that a folder of a repository belongs to, on the objects that sync it: its value is the uid of `kube-system`. */
const clusterAnnotation = "sluice.dev/cluster";

/** What the objects are made from that have a cluster follow a folder of a repository. */
export interface SyncOptions {
  /** The name of both objects; flux uses the name of their namespace. */
  readonly name: string;
  readonly namespace: string;
  readonly url: string;
  readonly branch: string;
  /** The interval of the GitRepository, in Go's syntax. */
  readonly interval: string;
  /** `./clusters/prod`. */
  readonly path: string;
  /** The Secret to log in with. */
  readonly secretName: string;
  /** The uid of the cluster. */
  readonly cluster: string;
  readonly recurseSubmodules: boolean;
  readonly sparseCheckout: readonly string[];
}

/** The two objects. */
export interface SyncObjects {
  readonly source: Manifest;
  readonly kustomization: Manifest;
}

/** The GitRepository and the Kustomization that follow the folder, with flux's fields. */
export function syncObjects({ name, namespace, path, cluster, ...of }: SyncOptions): SyncObjects {
  const metadata = { name, namespace, annotations: { [clusterAnnotation]: cluster } };
  const spec: JsonObject = {
    interval: of.interval,
    ref: { branch: of.branch },
    secretRef: { name: of.secretName },
    url: of.url,
    ...(of.recurseSubmodules ? { recurseSubmodules: true } : {}),
    ...(of.sparseCheckout.length > 0 ? { sparseCheckout: [...of.sparseCheckout] } : {}),
  };
  const sourceRef = { kind: "GitRepository", name };
  return {
    source: { apiVersion: `${sourceGroup}/v1`, kind: "GitRepository", metadata, spec },
    kustomization: {
      ...{ apiVersion: `${kustomizeGroup}/v1`, kind: "Kustomization", metadata },
      spec: { interval: "10m0s", path, prune: true, sourceRef },
    },
  };
}

const note = `# Written by sluice bootstrap: the cluster follows this repository, this file included.
# Sluice has no controllers in the cluster, and its definitions are not here: its installation brings them.
`;

/** The file with both objects. The same objects give the same text. */
export async function syncText({ source, kustomization }: SyncObjects): Promise<string> {
  const { dump } = await import("js-yaml");
  const documents = [source, kustomization].map((one) => `---\n${dump(one, { sortKeys: true, lineWidth: -1 })}`);
  return `${note}${documents.join("")}`;
}

/** The cluster that such a file names; undefined if it names none. */
export function clusterOf(text: string): string | undefined {
  return /^ {1,16}sluice\.dev\/cluster: {1,4}['"]?([\w-]{1,64})['"]?\r?$/m.exec(text)?.[1];
}
