import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError, type KindQuery, type Resource, type ServedKinds } from "../core/ports/cluster.ts";
import { jsonOf } from "./api-answer.ts";
import type { ApiClient } from "./api-client.ts";

const minGapMs = 100;
const aggregated = ["v2", "v2beta1"]
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .join(",");

interface Served {
  /** By group and kind; each list in the server's order of preferred versions. */
  readonly kinds: ReadonlyMap<string, readonly Resource[]>;
  /** Groups whose own API server does not answer, so that the server does not know their kinds. */
  readonly stale: ReadonlySet<string>;
}

export interface Discovery {
  /**
   * Undefined if the cluster does not serve the kind, by a discovery that began after the call. Throws a 503 if that is not known:
   * objects of a kind that is wrongly taken for removed would not be pruned.
   */
  find(query: KindQuery, signal: AbortSignal): Promise<Resource | undefined>;
  /** Everything that is served, by a discovery that begins after the call. */
  all(signal: AbortSignal): Promise<ServedKinds>;
  /** Forgets one kind that the server no longer serves as it did. Lookups of other kinds are not delayed. */
  forget(resource: Pick<Resource, "group" | "kind">): void;
}

/**
 * The kinds that the server serves, cached until a lookup misses. A miss runs the discovery again, since a definition may be
 * new. Discoveries are at least 100 ms apart, and concurrent misses share the next one.
 */
export function discovery(client: ApiClient, clock: Clock): Discovery {
  let served: Served | undefined;
  let lastLookAt = Number.NEGATIVE_INFINITY;
  let next: Promise<Served> | undefined;

  const look = async (signal: AbortSignal): Promise<Served> => {
    // Sleeps at least one turn of the event loop, so that lookups that miss at the same moment share one discovery.
    await clock.sleep(Math.max(lastLookAt + minGapMs - clock.monotonic(), 0), signal);
    lastLookAt = clock.monotonic();
    // Later lookups may need a kind that is newer than this discovery.
    next = undefined;
    served = await readServed(client, signal);
    return served;
  };

  const lookAgain = async (signal: AbortSignal): Promise<Served> => {
    for (;;) {
      const shared = next;
      next ??= look(signal);
      try {
        return await next;
      } catch (error) {
        next = undefined;
        // The caller that began the discovery was aborted, this one was not: try again.
        if (shared === undefined || signal.aborted || error instanceof ApiError) throw error;
      }
    }
  };

  return {
    async find(query, signal) {
      const known = served === undefined ? undefined : match(served, query);
      if (known !== undefined) return known;
      const now = await lookAgain(signal);
      const found = match(now, query);
      if (found === undefined && now.stale.has(query.group)) throw unavailable(query);
      return found;
    },
    async all(signal) {
      const { kinds, stale } = await lookAgain(signal);
      const served = [...kinds.values()];
      return {
        resources: served.flatMap((versions) => versions.slice(0, 1)),
        otherVersions: served.flatMap((versions) => versions.slice(1)),
        silentGroups: [...stale],
      };
    },
    forget({ group, kind }) {
      if (served === undefined) return;
      const kinds = new Map(served.kinds);
      kinds.delete(kindKey(group, kind));
      served = { ...served, kinds };
    },
  };
}

function kindKey(group: string, kind: string): string {
  return `${group}/${kind}`;
}

function match({ kinds }: Served, { group, kind, version }: KindQuery): Resource | undefined {
  const resources = kinds.get(kindKey(group, kind));
  return version === undefined ? resources?.[0] : resources?.find((resource) => resource.version === version);
}

function unavailable({ group, kind }: KindQuery): ApiError {
  const message =
    `whether kind ${kind} is served is unknown: the API server of group ${group} does not answer; ` +
    `see kubectl get apiservices, and remove the APIService if it is no longer needed`;
  return new ApiError({ code: 503, reason: "ServiceUnavailable", message });
}

async function readServed(client: ApiClient, signal: AbortSignal): Promise<Served> {
  const lists = await Promise.all(["/api", "/apis"].map((path) => readGroups(client, path, signal)));
  const groups = lists.flat();
  const kinds = new Map<string, Resource[]>();
  for (const resource of groups.flatMap(resourcesOf)) {
    const key = kindKey(resource.group, resource.kind);
    const known = kinds.get(key);
    if (known === undefined) kinds.set(key, [resource]);
    // One version may serve a kind under several names; the first one is the resource itself.
    else if (known.every(({ version }) => version !== resource.version)) known.push(resource);
  }
  const isStale = (group: JsonObject) => objects(group["versions"]).some(({ freshness }) => freshness === "Stale");
  return { kinds, stale: new Set(groups.filter(isStale).map(groupOf)) };
}

async function readGroups(client: ApiClient, path: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const request = { verb: "discovery", method: "GET", path, accept: aggregated, repeatable: true } as const;
  const list = jsonOf(await client.expect(request, signal));
  if (list["kind"] !== "APIGroupDiscoveryList") {
    const message = `the cluster does not support aggregated discovery (${path}): Kubernetes 1.27 or later is needed`;
    throw new ApiError({ code: 406, reason: "NotAcceptable", message });
  }
  return objects(list["items"]);
}

function resourcesOf(groupItem: JsonObject): readonly Resource[] {
  const group = groupOf(groupItem);
  return objects(groupItem["versions"]).flatMap((versionItem) => {
    const version = textOf(versionItem["version"]);
    return objects(versionItem["resources"]).flatMap(({ resource, scope, verbs, responseKind }) => {
      const kind = isJsonObject(responseKind) ? textOf(responseKind["kind"]) : "";
      if (kind === "") return [];
      const served = Array.isArray(verbs) ? verbs.filter((verb) => typeof verb === "string") : [];
      return [{ group, version, kind, plural: textOf(resource), namespaced: scope === "Namespaced", verbs: served }];
    });
  });
}

function groupOf({ metadata }: JsonObject): string {
  return isJsonObject(metadata) ? textOf(metadata["name"]) : "";
}

function objects(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The path of all objects of a kind, in one namespace if that is given. */
export function collectionPath(
  { group, version, plural, namespaced }: Resource,
  namespace: string | undefined,
): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const within = namespaced && namespace !== undefined && namespace !== "";
  return within ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`;
}

/** The path of one object or its subresource. For a cluster-scoped kind the namespace is ignored. */
export function objectPath(
  resource: Resource,
  { namespace, name }: { namespace: string; name: string },
  subresource?: string,
): string {
  if (resource.namespaced && namespace === "") {
    const message = `${resource.kind}/${name} has no namespace, but its kind requires one: set metadata.namespace`;
    throw new ApiError({ code: 400, reason: "BadRequest", message });
  }
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
