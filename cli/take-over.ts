import { ownVersion } from "../lib/core/own-version.ts";
import { describeOwner, type Installation, takeOver } from "../lib/gate/cluster-owner.ts";
import { maxOwnerFieldChars } from "../lib/gate/owner-object.ts";
import { lookCountsMs } from "../lib/gate/write-gate.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { stateInstallation } from "../local/own-installation.ts";
import { identityOf } from "../local/state-folder.ts";
import { type GlobalOptions, type Session, type Surroundings, withCluster } from "./session.ts";

export interface TakeOverOptions extends GlobalOptions {
  readonly state: string;
  readonly installation?: string;
}

/** `take-over`: makes an installation the owner of the cluster and says which one owned it before. */
export async function takeOverCluster(options: TakeOverOptions, surroundings: Surroundings): Promise<void> {
  const next = await installationOf(options);
  await withCluster(options, surroundings, (session) => giveCluster(next, session));
}

async function giveCluster(installation: Installation, { cluster, terminal, signal }: Session): Promise<void> {
  const { former, isChanged } = await takeOver(installation, { cluster, clock: systemClock }, signal);
  if (!isChanged) {
    terminal.success(`this cluster already belongs to ${installation.id}`);
    return;
  }
  if (former !== undefined) terminal.action(`this cluster belonged to ${describeOwner(former)}`);
  terminal.success(`this cluster now belongs to ${installation.id}`);
  if (former === undefined) return;
  const seconds = lookCountsMs / 1_000;
  terminal.waiting(
    `${former.id} starts no more writes after ${seconds} s; it keeps checking the owner until it is stopped`,
  );
}

async function installationOf({ state, installation }: TakeOverOptions): Promise<Installation> {
  if (installation === undefined) return stateInstallation(await identityOf(state));
  // No installation has another form of id: with an empty or misquoted id, no installation would write to the cluster.
  if (!/^[\w.:/-]+$/.test(installation) || installation.length > maxOwnerFieldChars) {
    const example = "123456789012/eu-west-1/sluice";
    throw new Error(
      `--installation must be an id as the log prints it, such as ${example}, of at most ${maxOwnerFieldChars} characters`,
    );
  }
  return { id: installation, version: ownVersion };
}
