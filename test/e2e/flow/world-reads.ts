import { findCondition } from "../../../lib/api/condition.ts";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { type Told, toldByObjects } from "../canary.ts";

/** What a user sees of the namespace of a world. */
export interface WorldReads {
  readonly get: (kind: string, name: string, apiVersion?: string) => Promise<LiveObject | undefined>;
  readonly kustomization: (name: string) => Promise<LiveObject | undefined>;
  /** Status of a Kustomization; empty if it has none. */
  readonly status: (name: string) => Promise<JsonObject>;
  /** Ready condition of a Kustomization as `status reason: message`. */
  readonly ready: (name: string) => Promise<string>;
  readonly events: (name: string) => Promise<readonly string[]>;
}

export const kustomizeVersion = "kustomize.toolkit.fluxcd.io/v1";

const { signal } = new AbortController();

export function worldReads(cluster: Cluster, namespace: string): WorldReads {
  const get: WorldReads["get"] = (kind, name, apiVersion = "v1") => {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    return cluster.get({ group: group ?? "", version: version ?? "", kind, namespace, name }, signal);
  };
  const kustomization = (name: string) => get("Kustomization", name, kustomizeVersion);
  return {
    get,
    kustomization,
    status: async (name) => {
      const status: unknown = (await kustomization(name))?.["status"];
      return isJsonObject(status) ? status : {};
    },
    ready: async (name) => {
      const live = await kustomization(name);
      const ready = live && findCondition(parseKustomization(live).status.conditions ?? [], "Ready");
      return ready === undefined ? "none" : `${ready.status} ${ready.reason}: ${ready.message}`;
    },
    events: async (name) => {
      const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace }, signal);
      return found
        .filter(({ involvedObject }) => isJsonObject(involvedObject) && involvedObject["name"] === name)
        .toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map((event) => `${String(event["type"])} ${String(event["reason"])}: ${String(event["message"])}`);
    },
  };
}

/** What our objects and the events in these namespaces say. */
export async function toldIn(namespaces: ReadonlySet<string>, cluster: Cluster): Promise<readonly Told[]> {
  const kinds = [
    { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" },
    { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository" },
    { group: "", version: "v1", kind: "Event" },
  ];
  const queries = [...namespaces].flatMap((within) => kinds.map((kind) => ({ ...kind, namespace: within })));
  const objects = await Promise.all(queries.map((query) => cluster.list(query, signal)));
  return toldByObjects(objects.flat());
}
