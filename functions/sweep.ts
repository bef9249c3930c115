import { z } from "zod";
import type { PartialObject } from "../lib/core/ports/cluster.ts";
import { isClosed, type WriteGate } from "../lib/core/ports/write-gate.ts";
import { type NoticeDeps, noticeAll } from "../lib/queue/notice-resource.ts";
import type { QueueDeps } from "../lib/queue/queue-deps.ts";
import { sweep } from "../lib/queue/sweep.ts";

/** A kind whose custom resources the sweep looks after. */
export interface SweptKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface SweepDeps extends QueueDeps, NoticeDeps {
  /** While it is closed nothing is sent: no run would begin. */
  readonly gate: Pick<WriteGate, "enter">;
  readonly kinds: readonly SweptKind[];
  /** The custom resources of a kind in a cluster, metadata only. */
  listMetadata(cluster: string, kind: SweptKind, signal: AbortSignal): Promise<readonly PartialObject[]>;
}

/** One message a minute for each cluster. */
const SweepEvent = z.strictObject({ cluster: z.string().min(1).max(253) });

/**
 * Heals what events have missed: sends again for what is overdue, and compares the custom resources of a cluster with
 * what was seen of them before. Throws a `ZodError` for an event of any other shape.
 */
export function sweepHandler(deps: SweepDeps): (event: unknown, signal: AbortSignal) => Promise<void> {
  return async (event, signal) => {
    const { cluster } = SweepEvent.parse(event);
    if (await isClosed(deps.gate, signal)) return;
    const woken = await sweep(deps, signal);
    let adopted = 0;
    for (const kind of deps.kinds) {
      const objects = await deps.listMetadata(cluster, kind, signal);
      const present = objects.map(({ metadata }) => ({
        key: { cluster, group: kind.group, kind: kind.kind, namespace: metadata.namespace ?? "", name: metadata.name },
        metadata,
      }));
      adopted += await noticeAll({ cluster, group: kind.group, kind: kind.kind }, present, deps, signal);
    }
    if (woken + adopted > 0) deps.log.info("sweep found work", { cluster, woken, adopted });
  };
}
