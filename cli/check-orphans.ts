import { kustomizeGroup } from "../lib/api/names.ts";
import {
  type KnownOwner,
  type LeakedClaim,
  type Orphan,
  type Orphans,
  orphans,
  ownedSelector,
} from "../lib/apply/orphans.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { mapLimit } from "../lib/core/map-limit.ts";
import { formatApiVersion } from "../lib/core/object-ref.ts";
import { ApiError, type PartialObject, type Resource } from "../lib/core/ports/cluster.ts";
import type { Owner } from "../lib/gate/cluster-owner.ts";
import type { RecordedState } from "../local/recorded-state.ts";
import { valueAt } from "./reconcilable.ts";
import type { Session } from "./settings.ts";
import { table } from "./table.ts";

interface OrphanOptions {
  readonly owner: Owner | undefined;
  readonly state: string | undefined;
  readonly isJson: boolean;
}

interface Listed {
  readonly objects: readonly PartialObject[];
  /** Kinds that could not be listed, each with the reason. */
  readonly unread: readonly string[];
}

const concurrency = 8;
const kustomizationKind = { group: kustomizeGroup, version: "v1", kind: "Kustomization" };

/** `check --orphans`: answers whether there are none, which it can say only of kinds that it could list. */
export async function checkOrphans({ owner, state, isJson }: OrphanOptions, session: Session): Promise<boolean> {
  const { terminal } = session;
  terminal.action("looking for orphans");
  using recorded = await stateOf(owner, state, session);
  const { objects, unread } = await listOwned(session);
  const clusterUid = await session.cluster.uid(session.signal);
  // What is made while this looks is in an inventory before it is there, and claimed after: hence this order.
  const claims = recorded?.claims(clusterUid) ?? [];
  const owners = await knownOwners(recorded, clusterUid, session);
  const found = orphans({ objects, owners, claims });
  print(found, { unread, isJson, goesBy: recorded === undefined ? "status" : "state" }, session);
  return found.objects.length + found.claims.length + unread.length === 0;
}

/** The state of the installation that the cluster belongs to, where it can be read here. */
async function stateOf(
  owner: Owner | undefined,
  state: string | undefined,
  { terminal }: Session,
): Promise<RecordedState | undefined> {
  const [{ identityOf }, { stateInstallation }, { recordedState }] = await Promise.all([
    import("../local/state-folder.ts"),
    import("../local/own-installation.ts"),
    import("../local/recorded-state.ts"),
  ]);
  const folder = await identityOf(state ?? ".sluice").catch((error: unknown) => {
    if (state !== undefined) throw error;
    return undefined;
  });
  const id = folder && stateInstallation(folder).id;
  if (folder !== undefined && id === owner?.id) return recordedState(folder.path);
  if (folder !== undefined && state !== undefined) {
    throw new Error(
      `${folder.path} is the state of ${id}, and this cluster belongs to ${owner?.id ?? "no installation"}`,
    );
  }
  const why =
    owner === undefined ? "this cluster has no owner yet" : `the inventories of ${owner.id} are not read here`;
  terminal.warning(
    `${why}, so this goes by the status of each Kustomization: what prune: false has let go is listed too, and claims are not. Name the state folder of a sluice local with --state`,
  );
  return undefined;
}

async function listOwned({ cluster, signal }: Session): Promise<Listed> {
  const { resources, silentGroups } = await cluster.served(signal);
  const listable = resources.filter(({ verbs }) => verbs.includes("list"));
  const lists = await mapLimit(listable, concurrency, (resource, stop) => listKind(resource, stop), signal);
  const silent = silentGroups.map((group) => `all kinds of ${group}: its API server does not answer`);
  return {
    objects: lists.flatMap(({ objects }) => objects),
    unread: [...lists.flatMap(({ unread }) => unread), ...silent],
  };

  async function listKind({ group, version, kind, plural }: Resource, stop: AbortSignal): Promise<Listed> {
    try {
      const query = { group, version, kind, labelSelector: ownedSelector };
      return { objects: await cluster.listMetadata(query, stop), unread: [] };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const name = group === "" ? plural : `${plural}.${group}`;
      return { objects: [], unread: [`${name} (${formatApiVersion({ group, version })}): ${error.message}`] };
    }
  }
}

/** Each Kustomization with its objects: those in its saved inventory and those in its status, which Flux may have written. */
async function knownOwners(
  recorded: RecordedState | undefined,
  clusterUid: string,
  { cluster, signal }: Session,
): Promise<readonly KnownOwner[]> {
  const objects = await cluster.list(kustomizationKind, signal);
  return mapLimit(
    objects,
    concurrency,
    async (object, stop) => {
      const { uid, name, namespace = "" } = object.metadata;
      const { group, kind } = kustomizationKind;
      const key = { cluster: clusterUid, group, kind, namespace, name };
      const saved = (await recorded?.inventory(key, { uid, clusterUid }, stop)) ?? [];
      return { uid, name, namespace, entries: [...saved, ...shownEntries(object)] };
    },
    signal,
  );
}

function shownEntries(kustomization: LiveObject): KnownOwner["entries"] {
  const entries = valueAt(kustomization, "status", "inventory", "entries");
  if (!Array.isArray(entries)) return [];
  return entries.filter(isJsonObject).flatMap(({ id }) => (typeof id === "string" ? [{ id, state: "live" }] : []));
}

interface Shown {
  readonly unread: readonly string[];
  readonly isJson: boolean;
  readonly goesBy: "state" | "status";
}

function print({ objects, claims }: Orphans, { unread, isJson, goesBy }: Shown, { terminal }: Session): void {
  if (isJson) {
    const shown = { inventoriesFrom: goesBy, orphans: objects.map(asJson), claims, unreadKinds: unread };
    terminal.document(`${JSON.stringify(shown, undefined, 2)}\n`);
  } else {
    if (objects.length > 0) {
      terminal.out(table(["Namespace", "Kind", "Name", "Owner", "Why", "Last applied"], objects.map(objectRow)));
    }
    if (claims.length > 0) terminal.out(table(["Claimed", "By", "Why"], claims.map(claimRow)));
  }
  for (const kind of unread) terminal.warning(`not listed: ${kind}`);
  if (objects.length > 0)
    terminal.failure(`${count(objects.length, "object")} in no inventory, so no prune deletes ${them(objects.length)}`);
  if (claims.length > 0)
    terminal.failure(`${count(claims.length, "claim")} with nothing behind ${them(claims.length)}`);
  if (objects.length + claims.length === 0) terminal.success("no orphans among what was listed");
}

function asJson({ ref, apiVersion, uid, owner, reason, lastApplied }: Orphan): object {
  const { kind, namespace, name } = ref;
  return { apiVersion, kind, namespace, name, uid, owner, reason, lastApplied: lastApplied ?? null };
}

function objectRow({ ref, owner, reason, lastApplied }: Orphan): readonly string[] {
  const kind = ref.group === "" ? ref.kind : `${ref.kind}.${ref.group}`;
  return [ref.namespace, kind, ref.name, `${owner.namespace}/${owner.name}`, reason, lastApplied ?? "not known"];
}

function claimRow({ id, owner, reason }: LeakedClaim): readonly string[] {
  return [id, owner, reason];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function them(number: number): string {
  return number === 1 ? "it" : "them";
}
