import { systemClock } from "../lib/core/system-clock.ts";
import { describeOwner, type Heir, takeOver } from "../lib/gate/cluster-owner.ts";
import { lookCountsMs } from "../lib/gate/write-gate.ts";
import type { Session } from "./settings.ts";

/** `take-over`: says whose the cluster was, and whose it is. */
export async function giveCluster(heir: Heir, { cluster, terminal, signal }: Session): Promise<void> {
  const { former, isChanged } = await takeOver(heir, { cluster, clock: systemClock }, signal);
  if (!isChanged) {
    terminal.success(`this cluster belongs to ${heir.id} already`);
    return;
  }
  if (former !== undefined) terminal.action(`this cluster belonged to ${describeOwner(former)}`);
  terminal.success(`this cluster belongs to ${heir.id} now`);
  if (former === undefined) return;
  const seconds = lookCountsMs / 1_000;
  terminal.waiting(
    `${former.id} begins no write any more in ${seconds} s at the latest, and goes on looking until it is stopped`,
  );
}
