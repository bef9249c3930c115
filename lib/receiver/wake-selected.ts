import { type Cel, CelFault, type CelValues, type JsonText } from "../cel/cel.ts";
import { mapLimit } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import { formatApiVersion } from "../core/object-ref.ts";
import type { Log } from "../core/ports/log.ts";
import type { IndexedReceiver, IndexedResource } from "../core/ports/receiver-index.ts";
import type { ReconcileHints } from "../core/ports/reconcile-requests.ts";
import { formatWorkKey } from "../core/work-key.ts";

export interface WakeDeps {
  readonly requests: ReconcileHints;
  readonly cel: Pick<Cel, "withBudget">;
  readonly log: Log;
}

/** The values that filters may read in addition to the object. */
export type FilterValues = Readonly<Partial<Record<"req" | "claims", JsonText>>>;

/** Requests at the same time. */
const concurrency = 16;

/**
 * Asks for a run of each object that the Receiver selects and that its filters let through. An entry that fails is logged, and the
 * entries after it still count. Answers whether none failed, and how many runs were asked for.
 */
export async function wakeSelected(
  { key, entry }: IndexedReceiver,
  values: FilterValues,
  deps: WakeDeps,
  signal: AbortSignal,
): Promise<{ readonly isWhole: boolean; readonly woken: number }> {
  const cel = deps.cel.withBudget(key, "delivery");
  let isWhole = true;
  let woken = 0;
  for (const resource of entry.resources) {
    const { names, fault } = await chosen(resource, entry.resourceFilter, values, cel, signal);
    await mapLimit(
      names,
      concurrency,
      (name, stop) => {
        const { group, kind, namespace } = resource;
        return deps.requests.hint({ cluster: key.cluster, group, kind, namespace, name }, "webhook", stop);
      },
      signal,
    );
    woken += names.length;
    if (fault === undefined) continue;
    isWhole = false;
    deps.log.warn("resource of a Receiver not woken", {
      receiver: formatWorkKey(key),
      resource: resource.label,
      error: fault,
    });
  }
  return { isWhole, woken };
}

interface Chosen {
  readonly names: readonly string[];
  /** Why the objects after them were not checked. */
  readonly fault?: string;
}

async function chosen(
  { fault, filter, objects, ...kind }: IndexedResource,
  resourceFilter: string | undefined,
  values: FilterValues,
  cel: Pick<Cel, "compileBool">,
  signal: AbortSignal,
): Promise<Chosen> {
  if (fault !== undefined) return { names: [], fault };
  let left: Chosen = { names: objects.map(({ name }) => name) };
  const resOf = new Map(
    objects.map(({ name, metadata = {} }) => [
      name,
      { res: { apiVersion: formatApiVersion(kind), kind: kind.kind, metadata } },
    ]),
  );
  for (const expression of [resourceFilter, filter]) {
    if (expression === undefined || expression === "" || left.names.length === 0) continue;
    const each = left.names.map((name): CelValues => resOf.get(name) ?? {});
    const next = await passing(expression, left.names, values, each, cel, signal);
    left = next.fault === undefined && left.fault !== undefined ? { ...next, fault: left.fault } : next;
  }
  return left;
}

/** The names whose objects pass, up to the first that has no answer. */
async function passing(
  expression: string,
  names: readonly string[],
  values: FilterValues,
  each: readonly CelValues[],
  cel: Pick<Cel, "compileBool">,
  signal: AbortSignal,
): Promise<Chosen> {
  try {
    const shared: CelValues = { ...values };
    const program = await cel.compileBool(expression, ["res", ...Object.keys(shared)], signal);
    const results = await program.evaluateEach(shared, each, signal);
    const failed = results.findIndex((result) => result instanceof CelFault);
    const before = failed === -1 ? names : names.slice(0, failed);
    const found = before.filter((_, at) => results[at] === true);
    const fault = results[failed];
    return fault instanceof CelFault ? { names: found, fault: fault.message } : { names: found };
  } catch (error) {
    if (!(error instanceof CelFault)) throw error;
    return { names: [], fault: messageOf(error) };
  }
}
