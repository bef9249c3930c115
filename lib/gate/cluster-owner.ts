import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import { Outage } from "../core/ports/outage.ts";
import {
  isLost,
  type Owner,
  type OwnerObject,
  ownerObjectName,
  ownerObjectRef,
  parseOwnerObject,
  type ReadOwnerObject,
  readOwnerObject,
  writeOwnerObject,
} from "./owner-object.ts";
import { describePause } from "./pause.ts";
import type { GateCheck, Refusal } from "./write-gate.ts";

/** A Sluice with a state of its own: the processes that share a state are one installation. */
export interface Installation {
  /** Lives as long as its state, and no other installation has it. */
  readonly id: string;
  /** Where people find it, in their words. */
  readonly where?: string;
  readonly version: string;
}

/** The installation of this process. */
export interface OwnInstallation extends Installation {
  /** The command that makes it the owner of a cluster. */
  readonly takeOverCommand: string;
  /** The base URL of its webhooks; null: it has none; absent: this process does not know. */
  readonly webhookUrl?: string | null;
}

interface OwnerDeps {
  readonly cluster: Pick<Cluster, "get" | "create" | "patch" | "uid">;
  readonly clock: Pick<Clock, "now">;
}

interface CheckDeps extends OwnerDeps {
  /** Whether the cluster has Sluice's definitions; without them a cluster without an owner is left alone. Absent: it is not asked. */
  readonly isInstalled?: (signal: AbortSignal) => Promise<boolean>;
}

/** Another client may write it at the same moment; the second one then finds what the first has written. */
const maxTries = 3;

/**
 * Allows only the installation that owns the cluster, unless the cluster is paused. A cluster without an owner becomes its own: the
 * object is created, which the API server lets only one of several do.
 */
export function ownerCheck(self: OwnInstallation, { cluster, clock, isInstalled }: CheckDeps): GateCheck {
  return (signal) =>
    reading(async () => {
      for (let tries = 1; ; tries++) {
        const read = await readOwnerObject(cluster, signal);
        const refusal = refusalOf(read, self);
        if (refusal !== undefined) return refusal;
        if (read.owner !== undefined) {
          await tellWebhookUrl(read, read.owner, self, cluster, signal);
          return undefined;
        }
        if (isInstalled !== undefined && !(await isInstalled(signal))) return notInstalled;
        try {
          await writeOwnerObject(read, { owner: ownerNow(self, clock) }, cluster, signal);
          return undefined;
        } catch (error) {
          if (!isLost(error) || tries === maxTries) throw error;
        }
      }
    });
}

const notInstalled: Refusal = {
  reason: "owner",
  message:
    "this cluster has no owner and does not serve Kustomizations, as before the definitions are installed or after sluice uninstall, so it is left alone: remove it from the installation; to use it again, deploy once without it and then with it",
};

/**
 * Writes the address of the webhooks, if it has changed. People read it and nothing depends on it, so a fault of the API server is
 * left.
 */
async function tellWebhookUrl(
  read: ReadOwnerObject,
  owner: Owner,
  { webhookUrl }: OwnInstallation,
  cluster: OwnerDeps["cluster"],
  signal: AbortSignal,
): Promise<void> {
  if (webhookUrl === undefined || webhookUrl === (owner.webhookUrl ?? null)) return;
  try {
    await writeOwnerObject(read, { owner: { ...owner, webhookUrl: webhookUrl ?? undefined } }, cluster, signal);
  } catch (error) {
    if (error instanceof ApiError) return;
    throw error;
  }
}

/** Why this installation may not write to a cluster with this owner object; undefined if it is its own, or has no owner. */
function refusalOf({ owner, ownerFault, pause }: OwnerObject, self: OwnInstallation): Refusal | undefined {
  const { id, takeOverCommand } = self;
  if (ownerFault !== undefined) {
    const message = `${ownerObjectName} names the owner of this cluster and cannot be read (${ownerFault}): run ${takeOverCommand} to give the cluster to this installation, or delete the object, and the first installation that looks takes the cluster`;
    return { reason: "owner", message };
  }
  if (owner !== undefined && owner.id !== id) {
    const message = `this cluster belongs to another Sluice, ${describeOwner(owner)}; this is ${id}, and two would undo each other's work. To move the cluster to this one, stop the other and run ${takeOverCommand}. If the other is gone for good, deleting ${ownerObjectName} works too: the first installation that looks then takes the cluster`;
    return { reason: "owner", message };
  }
  if (pause === undefined) return undefined;
  return { reason: "paused", message: `this cluster is ${describePause(pause)}: run sluice resume to go on` };
}

/** For people: id, place, version and since when. */
export function describeOwner({ id, where, version, since }: Owner): string {
  return `${id}${where === undefined ? "" : ` at ${where}`}, version ${version}, since ${since}`;
}

/** The former owner of the cluster; undefined if it had none, or if its object was unreadable. */
export interface TakenOver {
  readonly former: Owner | undefined;
  /** False where it was this installation's already: then nothing is written. */
  readonly isChanged: boolean;
}

/**
 * Gives the cluster to this installation, no matter which one owns it. A paused cluster stays paused.
 *
 * @throws Error if its object is changed by others at the same time
 */
export async function takeOver(
  self: Installation,
  { cluster, clock }: OwnerDeps,
  signal: AbortSignal,
): Promise<TakenOver> {
  return reading(async () => {
    const read = await readOwnerObject(cluster, signal);
    const { owner: former } = read;
    if (former?.id === self.id) return { former, isChanged: false };
    try {
      await writeOwnerObject(read, { owner: ownerNow(self, clock) }, cluster, signal);
    } catch (error) {
      if (!isLost(error)) throw error;
      throw new Error(
        `${ownerObjectName} was changed by another client at the same time: look who owns the cluster now, and try again`,
        { cause: error },
      );
    }
    return { former, isChanged: true };
  });
}

/** For users who look at a cluster whose owner object is unreadable. */
export function describeOwnerFault(fault: string): string {
  return `${ownerObjectName} cannot be read: ${fault}. Write it again with sluice take-over`;
}

/** The owner of the cluster; undefined if it has none. Throws an Error where its object cannot be read. */
export async function ownerOf(cluster: Pick<Cluster, "get" | "uid">, signal: AbortSignal): Promise<Owner | undefined> {
  const { owner, ownerFault } = await readOwnerObject(cluster, signal);
  if (ownerFault !== undefined) throw new Error(describeOwnerFault(ownerFault));
  return owner;
}

/** The base URL of webhooks in this cluster; undefined if its owner has not published it. */
export async function webhookUrlOf(
  cluster: Pick<Cluster, "get" | "uid">,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = await cluster.get(ownerObjectRef, signal);
  return live === undefined ? undefined : parseOwnerObject(live, await cluster.uid(signal)).owner?.webhookUrl;
}

/** Leaves the cluster to the next that looks, if it is this installation's. A paused cluster stays paused. */
export async function letGo(
  { id }: Pick<Installation, "id">,
  cluster: Pick<Cluster, "get" | "delete" | "patch" | "create" | "uid">,
  signal: AbortSignal,
): Promise<void> {
  const read = await readOwnerObject(cluster, signal);
  const { live, owner, pause } = read;
  if (live === undefined || owner?.id !== id) return;
  if (pause !== undefined) return writeOwnerObject(read, { owner: null }, cluster, signal);
  const { uid, resourceVersion = "" } = live.metadata;
  await cluster.delete(ownerObjectRef, { uid, resourceVersion, propagation: "Background" }, signal);
}

function ownerNow(
  { id, where, version, webhookUrl }: Installation & Pick<OwnInstallation, "webhookUrl">,
  clock: Pick<Clock, "now">,
): Owner {
  return { id, where, version, since: new Date(clock.now()).toISOString(), webhookUrl: webhookUrl ?? undefined };
}

/** That the owner of a cluster cannot be found out is the fault of no object: nothing is written, and it is tried again. */
async function reading<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const mend =
      error.reason === "Forbidden" ? ". Allow Sluice to get, create and patch ConfigMaps in namespace kube-system" : "";
    const what = `${ownerObjectName}, which names the owner of this cluster, cannot be used`;
    throw new Outage("ReconciliationFailed", `${what}: ${messageOf(error)}${mend}`, { cause: error });
  }
}
