import { systemClock } from "../lib/core/system-clock.ts";
import { describeOwner, type Installation, takeOver } from "../lib/gate/cluster-owner.ts";
import { lookCountsMs } from "../lib/gate/write-gate.ts";
import type { Session } from "./settings.ts";

/** `take-over`: gives the cluster to an installation and says who owned it before. */
export async function giveCluster(installation: Installation, { cluster, terminal, signal }: Session): Promise<void> {
  const { former, isChanged } = await takeOver(installation, { cluster, clock: systemClock }, signal);
  if (!isChanged) {
    terminal.success(`this cluster belongs to ${installation.id} already`);
    return;
  }
  if (former !== undefined) terminal.action(`this cluster belonged to ${describeOwner(former)}`);
  terminal.success(`this cluster belongs to ${installation.id} now`);
  if (former === undefined) return;
  const seconds = lookCountsMs / 1_000;
  terminal.waiting(`${former.id} begins no more writes after ${seconds} s, and keeps looking until it is stopped`);
}
