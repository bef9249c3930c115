import { messageOf } from "../lib/core/failure.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import type { HomeCluster } from "../lib/core/ports/home-and-target.ts";
import type { Log } from "../lib/core/ports/log.ts";
import { type Look, type LookRequests, lookDelaysMs } from "../lib/core/ports/wake-ups.ts";
import { closedReason, type WriteGate } from "../lib/core/ports/write-gate.ts";
import { parseWorkKey, type WorkKey } from "../lib/core/work-key.ts";
import type { ClusterLimits } from "../lib/queue/cluster-limits.ts";
import { type ObserveDeps, observeGone, observeResource } from "../lib/queue/observe-resource.ts";
import type { ObservedKind } from "../lib/queue/observed-kinds.ts";
import { answerWithin } from "./cluster-answer.ts";

export interface LookDeps extends ObserveDeps {
  readonly clusters: { get(id: string): LookedAtCluster | undefined };
  readonly kinds: readonly ObservedKind[];
  readonly limits: Pick<ClusterLimits, "answers">;
  readonly looks: LookRequests;
  readonly clock: Clock;
  readonly log: Log;
}

interface LookedAtCluster {
  /** While it is closed nothing is observed: no run would begin, and the sweep makes it good. */
  readonly gate: Pick<WriteGate, "enter">;
  readonly home: Pick<HomeCluster, "listMetadata">;
}

/** Looks at an object that a message names. Throws only for bugs. */
export type LookAtObject = (look: Look, signal: AbortSignal) => Promise<void>;

/** For the gate, and for the object: a cluster that is slower is left to the sweep. */
const answerWithinMs = 5_000;

/**
 * Compares an object that is about to change with what was seen of it before, and asks for the runs, as the sweep does for all objects.
 * While the change does not show, it may be on its way, or another webhook may have refused it: then it looks once more, and leaves the
 * rest to the sweep.
 */
export function lookAtObject(deps: LookDeps): LookAtObject {
  const { clusters, kinds, limits, log } = deps;
  return async (look, signal) => {
    const key = parseWorkKey(look.key);
    const cluster = clusters.get(key.cluster);
    const kind = kinds.find((one) => one.group === key.group && one.kind === key.kind && one.beside === undefined);
    if (cluster === undefined || kind === undefined) {
      log.debug("look at an object that is not observed here", { key: look.key });
      return;
    }
    if (!(await limits.answers(key.cluster, signal))) return;
    try {
      const shows = await answerWithin(
        answerWithinMs,
        (stop) => observe(look, key, kind, cluster, deps, stop),
        deps,
        signal,
      );
      if (!shows) await lookAgain(look, deps, signal);
    } catch (error) {
      log.warn("object not looked at, the sweep looks at it", { key: look.key, error: messageOf(error) });
    }
  };
}

/** Answers whether there is nothing to wait for: the change shows, or no run would begin. */
async function observe(
  { before }: Look,
  key: WorkKey,
  kind: ObservedKind,
  { gate, home }: LookedAtCluster,
  lookDeps: LookDeps,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await closedReason(gate, signal)) !== undefined) return true;
  const deps = { ...lookDeps, ...kind.observe };
  const only = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
  const [live] = await home.listMetadata({ ...kind, ...only }, signal);
  if (live !== undefined) {
    const isChanged = await observeResource({ key, metadata: live.metadata }, deps, signal);
    const { uid, resourceVersion } = live.metadata;
    return isChanged || uid !== before?.uid || resourceVersion !== before.resourceVersion;
  }
  if ((await deps.observed.get(key, signal)) === undefined) return false;
  await observeGone(key, deps, signal);
  return true;
}

async function lookAgain(look: Look, { looks, log }: LookDeps, signal: AbortSignal): Promise<void> {
  const tries = look.tries + 1;
  const delayMs = lookDelaysMs[tries];
  if (delayMs === undefined) log.debug("a change that was announced does not show", { key: look.key });
  else await looks.send({ ...look, tries }, delayMs, signal);
}
