import { servedKind } from "../lib/api/kinds/declaration.ts";
import { declaredHelmRelease } from "../lib/api/kinds/helm-release.ts";
import { declaredKustomization } from "../lib/api/kinds/kustomization.ts";
import {
  type KnownOwner,
  type LeakedClaim,
  type Orphan,
  type Orphans,
  orphans,
  ownedSelectors,
} from "../lib/apply/orphans.ts";
import { mapLimit } from "../lib/core/concurrency.ts";
import { isJsonObject } from "../lib/core/json.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { formatApiVersion } from "../lib/core/object-ref.ts";
import { ApiError, type PartialObject, type Resource } from "../lib/core/ports/cluster.ts";
import type { Owner } from "../lib/gate/owner-object.ts";
import type { RecordedState } from "../local/recorded-state.ts";
import { valueAt } from "./objects/read-object.ts";
import type { Session } from "./session.ts";
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
const owningKinds = [
  { ...servedKind(declaredKustomization), kind: "Kustomization" },
  { ...servedKind(declaredHelmRelease), kind: "HelmRelease" },
] as const;

/** What `check --orphans` found. */
export interface FoundOrphans {
  /** Whether there are no orphans and every kind could be listed. */
  readonly isClean: boolean;
  /** The fields that it adds to the document of `check -o json`. */
  readonly json: object;
}

/** `check --orphans`: lists the objects and claims that no inventory accounts for, as tables unless `isJson`. */
export async function checkOrphans({ owner, state, isJson }: OrphanOptions, session: Session): Promise<FoundOrphans> {
  const { terminal } = session;
  terminal.action("looking for orphans");
  using recorded = await stateOf(owner, state, session);
  const { objects, unread } = await listOwned(session);
  const clusterUid = await session.cluster.uid(session.signal);
  // An object that is created meanwhile is in an inventory before it exists, and claimed afterwards: hence this order.
  const claims = recorded?.claims(clusterUid) ?? [];
  const owners = await knownOwners(recorded, clusterUid, session);
  const found = orphans({ objects, owners, claims });
  print(found, unread, isJson, session);
  return {
    isClean: found.objects.length + found.claims.length + unread.length === 0,
    json: {
      inventoriesFrom: recorded === undefined ? "status" : "state",
      orphans: found.objects.map(asJson),
      claims: found.claims,
      unreadKinds: unread,
    },
  };
}

/** The state of the installation that owns the cluster; undefined if it cannot be read here. */
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
    owner === undefined ? "this cluster has no owner yet" : `the inventories of ${owner.id} cannot be read here`;
  terminal.warning(
    `${why}, so this uses the status of each Kustomization: objects that prune: false has released are listed too, and claims are not checked. Name the state folder of sluice local with --state`,
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
      const lists: PartialObject[] = [];
      for (const labelSelector of ownedSelectors) {
        lists.push(...(await cluster.listMetadata({ group, version, kind, labelSelector }, stop)));
      }
      return { objects: lists, unread: [] };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const name = group === "" ? plural : `${plural}.${group}`;
      return { objects: [], unread: [`${name} (${formatApiVersion({ group, version })}): ${error.message}`] };
    }
  }
}

/** Each Kustomization and HelmRelease with its objects: those in its saved inventory and those in its status, which Flux may have written. */
async function knownOwners(
  recorded: RecordedState | undefined,
  clusterUid: string,
  { cluster, signal }: Session,
): Promise<readonly KnownOwner[]> {
  const owners: KnownOwner[] = [];
  for (const served of owningKinds) {
    const { group, kind } = served;
    const objects = await cluster.list(served, signal).catch((error: unknown) => {
      // An older installation has no HelmReleases.
      if (error instanceof ApiError && error.reason === "NoMatch" && kind === "HelmRelease") return [];
      throw error;
    });
    const known = await mapLimit(
      objects,
      concurrency,
      async (object, stop): Promise<KnownOwner> => {
        const { uid, name, namespace = "" } = object.metadata;
        const key = { cluster: clusterUid, group, kind, namespace, name };
        const saved = (await recorded?.inventory(key, { uid, clusterUid }, stop)) ?? [];
        return { kind, uid, name, namespace, entries: [...saved, ...shownEntries(object)] };
      },
      signal,
    );
    owners.push(...known);
  }
  return owners;
}

function shownEntries(owner: LiveObject): KnownOwner["entries"] {
  const entries = valueAt(owner, "status", "inventory", "entries");
  if (!Array.isArray(entries)) return [];
  return entries.filter(isJsonObject).flatMap(({ id }) => (typeof id === "string" ? [{ id, state: "live" }] : []));
}

function print({ objects, claims }: Orphans, unread: readonly string[], isJson: boolean, { terminal }: Session): void {
  if (!isJson && objects.length > 0) {
    terminal.out(table(["Namespace", "Kind", "Name", "Owner", "Why", "Last applied"], objects.map(objectRow)));
  }
  if (!isJson && claims.length > 0) terminal.out(table(["Claimed", "By", "Why"], claims.map(claimRow)));
  for (const kind of unread) terminal.warning(`not listed: ${kind}`);
  if (objects.length > 0)
    terminal.failure(
      `${count(objects.length, "object")} in no inventory: prune will never delete ${them(objects.length)}`,
    );
  if (claims.length > 0) terminal.failure(`${count(claims.length, "leaked claim")} in the ledger`);
  if (objects.length + claims.length === 0) {
    terminal.success(
      unread.length === 0 ? "no orphans found" : "no orphans found among the kinds that could be listed",
    );
  }
}

function asJson({ ref, apiVersion, uid, owner, reason, lastApplied }: Orphan): object {
  const { kind, namespace, name } = ref;
  return { apiVersion, kind, namespace, name, uid, owner, reason, lastApplied: lastApplied ?? null };
}

function objectRow({ ref, owner, reason, lastApplied }: Orphan): readonly string[] {
  const kind = ref.group === "" ? ref.kind : `${ref.kind}.${ref.group}`;
  return [ref.namespace, kind, ref.name, `${owner.namespace}/${owner.name}`, reason, lastApplied ?? "unknown"];
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
