import { controllerOf, isUnreconciled, type ReconciledKinds } from "../lib/api/kinds/unreconciled.ts";
import { mapLimit } from "../lib/core/concurrency.ts";
import { someOf } from "../lib/core/cut-text.ts";
import { formatApiVersion } from "../lib/core/object-ref.ts";
import { ApiError, type PartialObject, type Resource } from "../lib/core/ports/cluster.ts";
import type { Session } from "./session.ts";

const concurrency = 8;
/** Objects of a kind that are named; the others are counted. */
const maxNamed = 3;

/** A kind of Flux or Flagger that Sluice does not reconcile, with its objects in the cluster. */
export interface CheckedUnreconciled {
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

interface Asking extends Pick<Session, "signal"> {
  readonly cluster: Pick<Session["cluster"], "listMetadata" | "served">;
  readonly terminal: Pick<Session["terminal"], "action" | "warning">;
}

/**
 * Which objects of the cluster Sluice leaves to others. Says nothing where there are none. Fails no check: the controllers of their kinds
 * may run. Undefined if the cluster does not say what it serves.
 */
export async function checkUnreconciled(
  reconciled: ReconciledKinds,
  { cluster, terminal, signal }: Asking,
): Promise<readonly CheckedUnreconciled[] | undefined> {
  try {
    const { resources } = await cluster.served(signal);
    const left = resources.filter((one) => isUnreconciled(one, reconciled) && one.verbs.includes("list"));
    const listed = await mapLimit(left, concurrency, (resource, stop) => listKind(resource, { cluster }, stop), signal);
    const found = listed.filter(({ count }) => count !== 0).toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
    if (found.length > 0) terminal.action("checking for objects of Flux and Flagger that Sluice does not reconcile");
    for (const one of found) terminal.warning(lineOf(one));
    return found;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    terminal.warning(`not known whether there are objects that Sluice does not reconcile: ${error.message}`);
    return undefined;
  }
}

async function listKind(
  { group, version, kind, plural }: Resource,
  { cluster }: Pick<Asking, "cluster">,
  signal: AbortSignal,
): Promise<CheckedUnreconciled> {
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

function lineOf({ kind, count, objects, controller, fault = "" }: CheckedUnreconciled): string {
  if (count === null) return `${kind}: not known, they cannot be listed: ${fault}`;
  const more = Array.from({ length: count - objects.length }, () => "");
  const by = controller === undefined ? "their own controller runs" : `${controller} runs`;
  return `${kind}: ${count} not reconciled by Sluice (${someOf([...objects, ...more], maxNamed)}): nothing happens to them unless ${by}`;
}
