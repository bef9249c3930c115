import type { Clock } from "../core/ports/clock.ts";
import type { Cluster } from "../core/ports/cluster.ts";
import {
  isLost,
  type OwnerObjectChange,
  ownerObjectName,
  ownerObjectRef,
  type Pause,
  parseOwnerObject,
  type ReadOwnerObject,
  readOwnerObject,
  writeOwnerObject,
} from "./owner-object.ts";

type PauseCluster = Pick<Cluster, "get" | "create" | "patch" | "uid">;

/** Others may write the object at the same moment, at most a few of them: an owner that looks, a take-over, another pause. */
const maxTries = 5;

/** The pause that holds after the call, and whether the call changed anything. */
export interface Paused {
  readonly pause: Pause;
  readonly isChanged: boolean;
}

/**
 * Stops all writes of Sluice to the cluster, whichever installation owns it: each asks for the object before it writes and goes by
 * what it saw for at most `lookCountsMs`. A pause that holds already keeps its author.
 */
export async function pauseCluster(
  by: string,
  { cluster, clock }: { readonly cluster: PauseCluster; readonly clock: Pick<Clock, "now"> },
  signal: AbortSignal,
): Promise<Paused> {
  const pause = { by, since: new Date(clock.now()).toISOString() };
  const before = await change(({ pause: held }) => (held === undefined ? { pause } : undefined), cluster, signal);
  return { pause: before ?? pause, isChanged: before === undefined };
}

/** Lets the owner write again. Answers the pause that it ended; undefined where the cluster was not paused. */
export async function resumeCluster(cluster: PauseCluster, signal: AbortSignal): Promise<Pause | undefined> {
  return change(({ pause }) => (pause === undefined ? undefined : { pause: null }), cluster, signal);
}

/** Whether writes to the cluster are stopped, also where the owner in its object cannot be read. */
export async function pauseOf(cluster: Pick<Cluster, "get" | "uid">, signal: AbortSignal): Promise<Pause | undefined> {
  const live = await cluster.get(ownerObjectRef, signal);
  return live === undefined ? undefined : parseOwnerObject(live, await cluster.uid(signal)).pause;
}

/** For people: by whom and since when. */
export function describePause({ by, since }: Pause): string {
  return `paused${by === undefined ? "" : ` by ${by}`}${since === undefined ? "" : ` since ${since}`}`;
}

/** Writes what `decide` answers for the object as it is now, and answers the pause from before. */
async function change(
  decide: (read: ReadOwnerObject) => OwnerObjectChange | undefined,
  cluster: PauseCluster,
  signal: AbortSignal,
): Promise<Pause | undefined> {
  for (let tries = 1; ; tries++) {
    const read = await readOwnerObject(cluster, signal);
    const wanted = decide(read);
    if (wanted === undefined) return read.pause;
    try {
      await writeOwnerObject(read, wanted, cluster, signal);
      return read.pause;
    } catch (error) {
      if (!isLost(error)) throw error;
      if (tries < maxTries) continue;
      throw new Error(`${ownerObjectName} is changed by other clients all the time: try again`, { cause: error });
    }
  }
}
