import { createHash } from "node:crypto";

/** Names and places of a release (reference helmrelease 5). */
export interface ReleaseNames {
  /** At most 53 bytes. */
  readonly name: string;
  /** Not shortened: messages of failures show it. */
  readonly fullName: string;
  /** Where its objects go. */
  readonly namespace: string;
  /** Where its Secrets are. */
  readonly storageNamespace: string;
}

const maxNameLength = 53;

/** The names of the release of a HelmRelease. */
export function releaseNames(
  spec: {
    readonly releaseName?: string;
    readonly targetNamespace?: string;
    readonly storageNamespace?: string;
  },
  { name, namespace }: { readonly name: string; readonly namespace: string },
): ReleaseNames {
  const { releaseName, targetNamespace, storageNamespace = namespace } = spec;
  const fullName = releaseName ?? (targetNamespace === undefined ? name : `${targetNamespace}-${name}`);
  return { name: shortened(fullName), fullName, namespace: targetNamespace ?? namespace, storageNamespace };
}

/** As Flux shortens: the first 40 bytes, and 12 hexadecimal digits of the whole name's sha256. */
function shortened(name: string): string {
  if (name.length <= maxNameLength) return name;
  return `${name.slice(0, 40)}-${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}
