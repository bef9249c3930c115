import { z } from "zod";
import { type KindDeclaration, kindOf } from "../lib/api/kinds/declaration.ts";
import { mapLimit } from "../lib/core/concurrency.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { Metrics } from "../lib/core/ports/metrics.ts";
import type { SweepRequests } from "../lib/core/ports/wake-ups.ts";
import { UnreadableWorkItem } from "../lib/core/ports/work-items.ts";
import type { WorkKey } from "../lib/core/work-key.ts";
import type { ClusterLimits } from "../lib/queue/cluster-limits.ts";
import type { QueueDeps } from "../lib/queue/queue-deps.ts";
import { type NotRun, sweep } from "../lib/queue/sweep.ts";
import { type CountedObject, countObjects } from "./tell-objects.ts";

export interface SweepDeps extends QueueDeps {
  /** The ids of all clusters that are looked after now. What is overdue in others is left alone. */
  readonly clusters: () => readonly string[];
  /** What is overdue in a cluster that does not answer, or may not be written to, is left alone too. */
  readonly limits: Pick<ClusterLimits, "budgets">;
  readonly sweepRequests: SweepRequests;
  readonly metrics: Metrics;
  /** The kinds that are reconciled. Objects of others are not run, which is not a fault. */
  readonly kinds: readonly Pick<KindDeclaration, "group" | "kind">[];
}

/** The schedule's event says nothing. */
const SweepEvent = z.strictObject({});

const concurrency = 16;

/**
 * Heals what events have missed, once a minute: asks for the sweep of each cluster, and sends again for what is overdue in the
 * table. It reaches no cluster. What cannot be sent for one cluster keeps nothing from the others; the sweep then fails at its end.
 * Throws a `ZodError` for an event of any other shape.
 */
export function sweepHandler(deps: SweepDeps): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    SweepEvent.parse(event);
    const clusters = deps.clusters();
    const failures: unknown[] = [];
    await mapLimit(
      clusters,
      concurrency,
      async (cluster, stop) => {
        try {
          await deps.sweepRequests.send(cluster, stop);
        } catch (error) {
          stop.throwIfAborted();
          deps.log.warn("sweep of a cluster not requested", { cluster, error: messageOf(error) });
          failures.push(error);
        }
      },
      signal,
    );
    const found: NotRun[] = [];
    const woken = await wakeOverdue(deps, clusters, signal, (one) => found.push(one));
    countNotRun(found, deps);
    if (woken > 0) deps.log.info("sweep found overdue objects", { woken });
    if (failures.length > 0)
      throw new AggregateError(failures, `the sweep of ${failures.length} clusters was not requested`);
  };
}

/** Wakes what is overdue in these clusters; answers how many objects. */
export async function wakeOverdue(
  deps: QueueDeps & Pick<SweepDeps, "limits">,
  clusters: readonly string[],
  signal: AbortSignal,
  notRun?: (found: NotRun) => void,
): Promise<number> {
  return sweep(deps, signal, await deps.limits.budgets(clusters, signal), notRun);
}

/** The installation's own counter. */
const noObject: WorkKey = { cluster: "", group: "", kind: "", namespace: "", name: "" };

function countNotRun(found: readonly NotRun[], { metrics, kinds }: SweepDeps): void {
  const objects = found.flatMap((one): readonly CountedObject[] => {
    if (one instanceof UnreadableWorkItem) return [{ key: noObject, properties: { row: one.row } }];
    if (kindOf(one.key, kinds) === undefined) return [];
    return [{ key: one.key, properties: { wakeUps: String(one.woken) } }];
  });
  countObjects(metrics, "ReconcilesNotRun", objects, noObject);
}
