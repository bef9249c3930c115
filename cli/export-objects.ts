import { type KindDeclaration, servedKind } from "../lib/api/kinds/declaration.ts";
import type { LiveObject, Manifest } from "../lib/core/manifest.ts";
import { yamlOf } from "./created-object.ts";
import type { Session } from "./session.ts";

export interface ExportOptions {
  readonly all?: boolean;
}

/**
 * `export`: prints an object, or with `--all` each of the namespace, as YAML that can be applied elsewhere: labels, annotations and spec,
 * without status and what the API server adds.
 */
export async function exportObjects(
  kind: KindDeclaration,
  name: string | undefined,
  { all = false }: ExportOptions,
  { cluster, namespace, terminal, signal }: Session,
): Promise<void> {
  if (name === undefined && !all) throw new Error("name is required");
  const served = servedKind(kind);
  if (all) {
    const objects = await cluster.list({ ...served, namespace }, signal);
    if (objects.length === 0) throw new Error(`no ${kind.kind} objects found in "${namespace}" namespace`);
    for (const object of objects) terminal.out(await yamlOf(exported(object)));
    return;
  }
  const object = await cluster.get({ ...served, namespace, name: name ?? "" }, signal);
  if (object === undefined) throw new Error(`${kind.kind} object '${name}' not found in "${namespace}" namespace`);
  terminal.out(await yamlOf(exported(object)));
}

const appliedBefore = "kubectl.kubernetes.io/last-applied-configuration";

function exported({ apiVersion, kind, metadata, spec }: LiveObject): Manifest {
  const { name, namespace, labels, annotations = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => key !== appliedBefore);
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
    },
    ...(spec === undefined ? {} : { spec }),
  };
}
