import { type Condition, Conditions } from "../../api/condition.ts";
import { hasFluxStatus, kindOf } from "../../api/kinds/declaration.ts";
import { requestedAtAnnotation } from "../../api/names.ts";
import { isJsonObject, type JsonObject, toJson } from "../../core/json.ts";
import { type LiveObject, refOf } from "../../core/manifest.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import type { Run } from "../../core/ports/run.ts";
import { leasedCluster } from "../../gate/leased-cluster.ts";
import { removeCondition, setCondition } from "../conditions.ts";
import { type EventToRecord, recordEvent } from "../record-event.ts";
import type { Kind } from "./kind.ts";

/** Reports the status of an object whose own flow could not. */
export interface ReporterDeps {
  readonly home: HomeCluster;
  readonly clock: Clock;
  readonly kinds: readonly Kind[];
}

/** Reports that an object is parked: Ready=False and Stalled=True, reason `Poisoned`, and an Event. */
export async function reportParked(run: Run, message: string, deps: ReporterDeps): Promise<void> {
  await reportStatus(
    run,
    ({ conditions, generation }) => {
      const said = { reason: "Poisoned", message, observedGeneration: generation };
      const now = deps.clock.now();
      const stalled = setCondition(conditions, { ...said, type: "Stalled", status: "True" }, now);
      const ready = setCondition(stalled, { ...said, type: "Ready", status: "False" }, now);
      return {
        conditions: removeCondition(ready, "Reconciling"),
        event: { type: "Warning", reason: "Poisoned", message, annotations: {} },
      };
    },
    deps,
  );
}

/** The parts of an object that are read before its status is reported: anything else in it may be the cause of its failing runs. */
interface Known {
  readonly conditions: readonly Condition[];
  readonly generation: number;
  readonly requestedAt: string | undefined;
  readonly handledAt: string | undefined;
}

interface Report {
  readonly conditions: readonly Condition[];
  /** The request that this handles, for `status.lastHandledReconcileAt`. */
  readonly handledAt?: string | undefined;
  readonly event: EventToRecord | undefined;
}

/** Writes status and event. An object that is gone gets neither, and one of a kind without a status of Flux's only the event. */
export async function reportStatus(
  run: Run,
  reportOn: (known: Known, kind: Kind) => Report,
  deps: ReporterDeps,
): Promise<void> {
  const kind = kindOf(run.key, deps.kinds);
  if (kind === undefined) throw new Error(`no status reporter for kind ${run.key.kind}`);
  const home = leasedCluster(deps.home, run);
  const live = await home.get({ ...run.key, version: kind.versions[0] }, run.signal);
  if (live === undefined) return;
  const { conditions, handledAt, event } = reportOn(knownOf(live), kind);
  // First, since the status says that it was sent.
  if (event !== undefined) await recordEvent(home, live, event, kind.eventSource, run, deps.clock);
  if (!hasFluxStatus(kind)) return;
  const request = handledAt === undefined ? {} : { lastHandledReconcileAt: handledAt };
  const patch = { type: "merge", body: { status: { ...request, conditions: toJson(conditions) } } } as const;
  await home.patch(refOf(live), patch, { manager: kind.statusManager, subresource: "status" }, run.signal);
}

function knownOf(live: LiveObject): Known {
  const status: JsonObject = isJsonObject(live["status"]) ? live["status"] : {};
  const handledAt = status["lastHandledReconcileAt"];
  return {
    conditions: Conditions.safeParse(status["conditions"] ?? []).data ?? [],
    generation: live.metadata.generation ?? 0,
    requestedAt: live.metadata.annotations?.[requestedAtAnnotation],
    handledAt: typeof handledAt === "string" ? handledAt : undefined,
  };
}
