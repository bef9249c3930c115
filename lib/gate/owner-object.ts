import { z } from "zod";
import { cutText } from "../core/cut-text.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { type LiveObject, refOf } from "../core/manifest.ts";
import { subject } from "../core/object-ref.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";

/** The owner of a cluster, according to its object. */
export interface Owner {
  readonly id: string;
  readonly where: string | undefined;
  /** The version that took the cluster. */
  readonly version: string;
  /** When it took the cluster, in ISO 8601 by its own clock. */
  readonly since: string;
  /** The base URL of webhooks, if it is known. */
  readonly webhookUrl?: string | undefined;
}

/** That nothing is written to the cluster until it is resumed. A pause written by hand may lack who paused it. */
export interface Pause {
  readonly by: string | undefined;
  /** In ISO 8601 by the clock of the command that paused. */
  readonly since: string | undefined;
}

/** The content of a cluster's owner object. All undefined where there is none, or where it came with a backup of another cluster. */
export interface OwnerObject {
  readonly owner: Owner | undefined;
  /** Why the owner cannot be read; then it is unknown whose the cluster is. */
  readonly ownerFault: string | undefined;
  readonly pause: Pause | undefined;
}

/** The object as it was read, for a write under the precondition that it is still the same. */
export interface ReadOwnerObject extends OwnerObject {
  readonly clusterUid: string;
  readonly live: LiveObject | undefined;
}

const manager = "sluice";
/** A namespace that every cluster has and whose uid is the cluster's identity (docs/maintainers/adr/0016-each-cluster-has-one-owner.md). */
const identity = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: "sluice-owner",
    namespace: "kube-system",
    labels: { "app.kubernetes.io/managed-by": manager },
  },
} as const;
export const ownerObjectRef = refOf(identity);
/** For messages. */
export const ownerObjectName = subject(ownerObjectRef);

export const maxOwnerFieldChars = 1_024;
const text = z.string().min(1).max(maxOwnerFieldChars);
/** An unreadable one counts as missing: it is for people, and decides nothing. */
const webhookUrl = z
  .url({ protocol: /^https?$/ })
  .max(maxOwnerFieldChars)
  .optional()
  .catch(undefined);
const OwnerData = z.object({
  data: z.object({ installation: text, where: text.optional(), version: text, since: text, cluster: text, webhookUrl }),
});
const ownerFields = ["installation", "where", "version", "since", "webhookUrl"] as const;
/** Merged into the data, these remove the fields of the owner or of the pause. */
const noOwner: JsonObject = Object.fromEntries(ownerFields.map((field) => [field, null]));
const noPause: JsonObject = { paused: null, pausedBy: null, pausedAt: null };

const nothing = { owner: undefined, ownerFault: undefined, pause: undefined } as const;

export function parseOwnerObject(live: LiveObject | undefined, clusterUid: string): OwnerObject {
  if (live === undefined) return nothing;
  const data = isJsonObject(live["data"]) ? live["data"] : {};
  if (typeof data["cluster"] === "string" && data["cluster"] !== clusterUid) return nothing;
  const pause = pauseIn(data);
  // A cluster can be paused before any installation has read it.
  const isUnowned = data["cluster"] === clusterUid && ownerFields.every((field) => data[field] === undefined);
  if (isUnowned) return { ...nothing, pause };
  const parsed = OwnerData.safeParse(live);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    return { owner: undefined, ownerFault: fields.join("; "), pause };
  }
  const { installation: id, ...owner } = parsed.data.data;
  const { where, version, since } = owner;
  return { owner: { id, where, version, since, webhookUrl: owner.webhookUrl }, ownerFault: undefined, pause };
}

/** Any text but `false` pauses: a person in a hurry may write `yes`. */
function pauseIn({ paused, pausedBy, pausedAt }: JsonObject): Pause | undefined {
  if (paused === undefined || paused === "false") return undefined;
  const read = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? cutText(value, maxOwnerFieldChars) : undefined;
  return { by: read(pausedBy), since: read(pausedAt) };
}

export async function readOwnerObject(
  cluster: Pick<Cluster, "get" | "uid">,
  signal: AbortSignal,
): Promise<ReadOwnerObject> {
  const clusterUid = await cluster.uid(signal);
  const live = await cluster.get(ownerObjectRef, signal);
  return { ...parseOwnerObject(live, clusterUid), clusterUid, live };
}

/** The fields that a write changes: null removes a field, undefined leaves it as it is. */
export interface OwnerObjectChange {
  readonly owner?: Owner | null;
  readonly pause?: Pause | null;
}

/**
 * Writes on the condition that the object is as it was read, or still absent.
 *
 * @throws ApiError for which {@link isLost} is true where another client was faster
 */
export async function writeOwnerObject(
  { live, clusterUid, owner, ownerFault, pause }: ReadOwnerObject,
  change: OwnerObjectChange,
  cluster: Pick<Cluster, "create" | "patch">,
  signal: AbortSignal,
): Promise<void> {
  const data: JsonObject = { ...ownerData(change.owner), ...pauseData(change.pause), cluster: clusterUid };
  if (live === undefined) {
    const present = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
    await cluster.create({ ...identity, data: present }, { manager }, signal);
    return;
  }
  // What an object of another cluster says must not begin to hold with the cluster's id that is written now.
  const foreign = {
    ...(owner === undefined && ownerFault === undefined ? noOwner : {}),
    ...(pause === undefined ? noPause : {}),
  };
  const { resourceVersion = "" } = live.metadata;
  const body = { metadata: { resourceVersion }, data: { ...foreign, ...data } };
  await cluster.patch(ownerObjectRef, { type: "merge", body }, { manager }, signal);
}

function ownerData(owner: Owner | null | undefined): JsonObject {
  if (owner === undefined) return {};
  if (owner === null) return noOwner;
  const { id, where, version, since, webhookUrl: url = null } = owner;
  return {
    ...{ installation: id, version, since, webhookUrl: url },
    where: where === undefined ? null : cutText(where, maxOwnerFieldChars),
  };
}

function pauseData(pause: Pause | null | undefined): JsonObject {
  if (pause === undefined) return {};
  if (pause === null) return noPause;
  return { paused: "true", pausedBy: pause.by ?? null, pausedAt: pause.since ?? null };
}

/** Whether another client was there first. */
export function isLost(error: unknown): boolean {
  return error instanceof ApiError && ["AlreadyExists", "Conflict", "NotFound"].includes(error.reason);
}
