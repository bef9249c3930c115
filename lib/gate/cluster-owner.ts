import { z } from "zod";
import { cutText } from "../core/cut-text.ts";
import { messageOf } from "../core/failure.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import { Outage } from "../core/outage.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { GateCheck } from "./write-gate.ts";

/** A Sluice with a state of its own: the processes that share a state are one installation. */
export interface Installation {
  /** Stays the same for as long as its state lives, and no other installation has it. */
  readonly id: string;
  /** Where people find it, in their words. */
  readonly where?: string;
  readonly version: string;
}

/** The installation that this process is part of. */
export interface OwnInstallation extends Installation {
  /** The command that gives a cluster to it. */
  readonly takeOverCommand: string;
}

/** Who a cluster belongs to, as its object says. */
export interface Owner {
  readonly id: string;
  readonly where: string | undefined;
  /** The version with which it took the cluster. */
  readonly version: string;
  /** When it took the cluster, in ISO 8601 by its own clock. */
  readonly since: string;
}

interface OwnerDeps {
  readonly cluster: Pick<Cluster, "get" | "create" | "patch" | "uid">;
  readonly clock: Pick<Clock, "now">;
}

const manager = "sluice";
/** A namespace that every cluster has and whose uid is the cluster's identity (docs/adr/0016-each-cluster-has-one-owner.md). */
const identity = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: "sluice-owner",
    namespace: "kube-system",
    labels: { "app.kubernetes.io/managed-by": manager },
  },
} as const;
const ref = refOf(identity);
const name = subject(ref);

export const maxOwnerFieldChars = 1_024;
const text = z.string().min(1).max(maxOwnerFieldChars);
const OwnerObject = z.object({
  data: z.object({ installation: text, where: text.optional(), version: text, since: text, cluster: text }),
});

/** What the object of a cluster says. Undefined where there is none, or where it came with a backup of another cluster. */
type Said = { readonly owner: Owner } | { readonly fault: string } | undefined;

/** @internal Exported for its tests. */
export function ownerIn(live: LiveObject | undefined, clusterUid: string): Said {
  if (live === undefined) return undefined;
  const parsed = OwnerObject.safeParse(live);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    return { fault: fields.join("; ") };
  }
  const { installation: id, where, version, since, cluster } = parsed.data.data;
  return cluster === clusterUid ? { owner: { id, where, version, since } } : undefined;
}

/** Another client may write it at the same moment; the second one then finds what the first has written. */
const maxTries = 3;

/**
 * Lets through the installation that the cluster belongs to. A cluster without an owner becomes its own: the object is
 * created, which the API server lets only one of several do.
 */
export function ownerCheck(self: OwnInstallation, { cluster, clock }: OwnerDeps): GateCheck {
  return (signal) =>
    reading(async () => {
      for (let tries = 1; ; tries++) {
        const clusterUid = await cluster.uid(signal);
        const live = await cluster.get(ref, signal);
        const said = ownerIn(live, clusterUid);
        if (said !== undefined) return refusalOf(said, self);
        try {
          await write(self, live, clusterUid, { cluster, clock }, signal);
          return undefined;
        } catch (error) {
          if (!isLost(error) || tries === maxTries) throw error;
        }
      }
    });
}

/** Why this installation may not write to a cluster whose object says this; undefined where it is its own. */
function refusalOf(said: NonNullable<Said>, { id, takeOverCommand }: OwnInstallation): string | undefined {
  if ("fault" in said) {
    return `${name} names the owner of this cluster and cannot be read (${said.fault}): run ${takeOverCommand} to give the cluster to this installation, or delete the object, and the first installation that looks takes the cluster`;
  }
  if (said.owner.id === id) return undefined;
  return `this cluster belongs to another Sluice, ${describeOwner(said.owner)}; this is ${id}, and two would undo each other's work. To move the cluster to this one, stop the other and run ${takeOverCommand}. If the other is gone for good, deleting ${name} works too: the first installation that looks then takes the cluster`;
}

/** For people: id, place, version and since when. */
export function describeOwner({ id, where, version, since }: Owner): string {
  return `${id}${where === undefined ? "" : ` at ${where}`}, version ${version}, since ${since}`;
}

/** Who had the cluster before; undefined where it had no owner, or where its object could not be read. */
export interface TakenOver {
  readonly former: Owner | undefined;
  /** False where it was this installation's already: then nothing is written. */
  readonly isChanged: boolean;
}

/**
 * Gives the cluster to this installation, no matter which one owns it.
 *
 * @throws Error where its object is changed by others at the same time
 */
export async function takeOver(
  self: Installation,
  { cluster, clock }: OwnerDeps,
  signal: AbortSignal,
): Promise<TakenOver> {
  return reading(async () => {
    const clusterUid = await cluster.uid(signal);
    const live = await cluster.get(ref, signal);
    const said = ownerIn(live, clusterUid);
    const former = said !== undefined && "owner" in said ? said.owner : undefined;
    if (former?.id === self.id) return { former, isChanged: false };
    try {
      await write(self, live, clusterUid, { cluster, clock }, signal);
    } catch (error) {
      if (!isLost(error)) throw error;
      throw new Error(
        `${name} was changed by another client at the same time: look who owns the cluster now, and try again`,
        {
          cause: error,
        },
      );
    }
    return { former, isChanged: true };
  });
}

/** Who the cluster belongs to; undefined where it has no owner. Throws an Error where its object cannot be read. */
export async function ownerOf(cluster: Pick<Cluster, "get" | "uid">, signal: AbortSignal): Promise<Owner | undefined> {
  const said = ownerIn(await cluster.get(ref, signal), await cluster.uid(signal));
  if (said !== undefined && "fault" in said)
    throw new Error(`${name} cannot be read: ${said.fault}. Write it anew with sluice take-over`);
  return said?.owner;
}

/** Leaves the cluster to the next that looks, if it is this installation's. */
export async function letGo(
  { id }: Pick<Installation, "id">,
  cluster: Pick<Cluster, "get" | "delete" | "uid">,
  signal: AbortSignal,
): Promise<void> {
  const live = await cluster.get(ref, signal);
  const said = ownerIn(live, await cluster.uid(signal));
  if (live === undefined || said === undefined || !("owner" in said) || said.owner.id !== id) return;
  const { uid, resourceVersion = "" } = live.metadata;
  await cluster.delete(ref, { uid, resourceVersion, propagation: "Background" }, signal);
}

/** Under a precondition on what was read, or on its absence. */
async function write(
  { id, where, version }: Installation,
  live: LiveObject | undefined,
  clusterUid: string,
  { cluster, clock }: OwnerDeps,
  signal: AbortSignal,
): Promise<void> {
  const since = new Date(clock.now()).toISOString();
  const place = where === undefined ? {} : { where: cutText(where, maxOwnerFieldChars) };
  const data = { installation: id, ...place, version, since, cluster: clusterUid };
  if (live === undefined) {
    await cluster.create({ ...identity, data }, { manager }, signal);
    return;
  }
  const { resourceVersion = "" } = live.metadata;
  const body = { metadata: { resourceVersion }, data: { where: null, ...data } };
  await cluster.patch(ref, { type: "merge", body }, { manager }, signal);
}

/** Whether another client was there first. */
function isLost(error: unknown): boolean {
  return error instanceof ApiError && ["AlreadyExists", "Conflict", "NotFound"].includes(error.reason);
}

/** That the owner of a cluster cannot be found out is the fault of no object: nothing is written, and it is tried again. */
async function reading<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const mend =
      error.reason === "Forbidden" ? ". Allow Sluice to get, create and patch ConfigMaps in namespace kube-system" : "";
    const what = `${name}, which names the owner of this cluster, cannot be used`;
    throw new Outage("ReconciliationFailed", `${what}: ${messageOf(error)}${mend}`, { cause: error });
  }
}
