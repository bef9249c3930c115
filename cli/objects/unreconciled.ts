import { controllerOf, isUnreconciled, type ReconciledKinds } from "../../lib/api/kinds/unreconciled.ts";
import { mapLimit } from "../../lib/core/concurrency.ts";
import { formatApiVersion } from "../../lib/core/object-ref.ts";
import { ApiError, type Cluster, type PartialObject, type Resource } from "../../lib/core/ports/cluster.ts";

const concurrency = 8;

/** Objects of a kind that are named; the others are counted. */
const maxNamed = 3;

/** A kind of Flux or Flagger that Sluice does not reconcile, with its objects in the cluster. */
export interface Unreconciled {
  /** `helmreleases.helm.toolkit.fluxcd.io/v2` */
  readonly kind: string;
  /** Null where they cannot be listed. */
  readonly count: number | null;
  /** The first objects, as `namespace/name`. */
  readonly objects: readonly string[];
  /** The Deployment that reconciles the kind, where it is known. */
  readonly controller?: string;
  /** Why they cannot be listed. */
  readonly fault?: string;
}

type Asked = Pick<Cluster, "listMetadata" | "served">;

/** The kinds with objects that Sluice leaves to others, or why the cluster does not say what it serves. */
export async function findUnreconciled(
  reconciled: ReconciledKinds,
  cluster: Asked,
  signal: AbortSignal,
): Promise<{ readonly found: readonly Unreconciled[] } | { readonly fault: string }> {
  try {
    const { resources } = await cluster.served(signal);
    const left = resources.filter((one) => isUnreconciled(one, reconciled) && one.verbs.includes("list"));
    const listed = await mapLimit(left, concurrency, (resource, stop) => listKind(resource, cluster, stop), signal);
    return { found: listed.filter(({ count }) => count !== 0).toSorted((a, b) => (a.kind < b.kind ? -1 : 1)) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { fault: `not known whether there are objects that Sluice does not reconcile: ${error.message}` };
  }
}

async function listKind(
  { group, version, kind, plural }: Resource,
  cluster: Asked,
  signal: AbortSignal,
): Promise<Unreconciled> {
  const controller = controllerOf({ group, kind });
  const own = {
    kind: `${plural}.${formatApiVersion({ group, version })}`,
    ...(controller === undefined ? {} : { controller }),
  };
  try {
    const names = (await cluster.listMetadata({ group, version, kind }, signal)).map(nameOf).toSorted();
    return { ...own, count: names.length, objects: names.slice(0, maxNamed) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...own, count: null, objects: [], fault: error.message };
  }
}

function nameOf({ metadata: { name, namespace = "" } }: PartialObject): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}
