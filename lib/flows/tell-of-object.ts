import { type Condition, Conditions } from "../api/condition.ts";
import { requestedAtAnnotation } from "../api/names.ts";
import { fencedCluster } from "../apply/fenced-cluster.ts";
import { isJsonObject, type JsonObject, toJson } from "../core/json.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import type { Run } from "../core/run.ts";
import { type EventToRecord, recordEvent } from "./record-event.ts";
import { toldKind } from "./told-kind.ts";

/** What is read of an object before anything is told of it: whatever else it holds may be what its runs fail on. */
export interface Known {
  readonly conditions: readonly Condition[];
  readonly generation: number;
  readonly requestedAt: string | undefined;
  readonly handledAt: string | undefined;
}

/** What the object says from now on, and what its users are told. */
export interface Word {
  readonly conditions: readonly Condition[];
  /** The request that is handled by this, for `status.lastHandledReconcileAt`. */
  readonly handledAt?: string | undefined;
  readonly event: EventToRecord | undefined;
}

/** Tells the users of an object of which its own flow could not tell. One that is gone is told nothing. */
export async function tellOfObject(
  run: Run,
  word: (known: Known) => Word,
  deps: { readonly cluster: Cluster; readonly clock: Clock },
): Promise<void> {
  const cluster = fencedCluster(deps.cluster, run);
  const live = await cluster.get({ ...run.key, version: "v1" }, run.signal);
  if (live === undefined) return;
  const known = knownOf(live);
  const { conditions, handledAt, event } = word(known);
  const request = handledAt === undefined ? {} : { lastHandledReconcileAt: handledAt };
  const patch = { type: "merge", body: { status: { ...request, conditions: toJson(conditions) } } } as const;
  const { manager, source } = toldKind(run.key);
  await cluster.patch(refOf(live), patch, { manager, subresource: "status" }, run.signal);
  if (event === undefined) return;
  await recordEvent(cluster, live, event, source, run, deps.clock);
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
