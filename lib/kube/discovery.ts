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
  /** By group and kind, each list in the order of versions that the server prefers. */
  readonly kinds: ReadonlyMap<string, readonly Resource[]>;
  /** Groups of which the server does not know what they serve now: their own API server does not answer. */
  readonly stale: ReadonlySet<string>;
}

export interface Discovery {
  /**
   * Undefined where the cluster does not serve it, by a look that began after the question. Throws a 503 where that cannot be
   * said, since a kind that is taken for gone has no objects left to prune.
   */
  find(query: KindQuery, signal: AbortSignal): Promise<Resource | undefined>;
  /** Everything that is served, by a look that begins after the question. */
  all(signal: AbortSignal): Promise<ServedKinds>;
  /** Forgets one kind, which the server no longer knows as it served it; questions for the others wait for nothing. */
  forget(resource: Pick<Resource, "group" | "kind">): void;
}

/**
 * What the server serves, kept until something is missed. A miss looks again, since a definition may just have come; looks
 * are at least 100 ms apart, and all who wait for the next one share it.
 */
export function discovery(client: ApiClient, clock: Clock): Discovery {
  let served: Served | undefined;
  let lastLookAt = Number.NEGATIVE_INFINITY;
  let next: Promise<Served> | undefined;

  const look = async (signal: AbortSignal): Promise<Served> => {
    // Waits at least a turn, so that all who miss something at the same moment share one look.
    await clock.sleep(Math.max(lastLookAt + minGapMs - clock.monotonic(), 0), signal);
    lastLookAt = clock.monotonic();
    // Whoever asks from here on may know of something newer than this look will find.
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
        // The one who had begun the look was stopped; we were not.
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
      return { resources: [...kinds.values()].flatMap((versions) => versions.slice(0, 1)), silentGroups: [...stale] };
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
    `whether kind ${kind} is served is not known: the API server of group ${group} does not answer; ` +
    `see kubectl get apiservices, and remove the APIService if it is not to come back`;
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
    // One version may serve a kind under several names; the first is the resource itself.
    else if (known.every(({ version }) => version !== resource.version)) known.push(resource);
  }
  const isStale = (group: JsonObject) => objects(group["versions"]).some(({ freshness }) => freshness === "Stale");
  return { kinds, stale: new Set(groups.filter(isStale).map(groupOf)) };
}

async function readGroups(client: ApiClient, path: string, signal: AbortSignal): Promise<readonly JsonObject[]> {
  const request = { verb: "discovery", method: "GET", path, accept: aggregated, repeatable: true } as const;
  const list = jsonOf(await client.expect(request, signal));
  if (list["kind"] !== "APIGroupDiscoveryList") {
    const message = `the cluster does not tell its kinds in one answer (${path}): Kubernetes 1.27 or later is needed`;
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
