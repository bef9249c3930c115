import type { ApiObject } from "../core/api-object.ts";
import type { JsonObject } from "../core/json.ts";
import { numberOf, objectOf, textOf } from "../core/json-fields.ts";
import { metadataOf, nameOf } from "./object-facts.ts";

/** A ReplicaSet and how many Pods it is to have. */
export interface Scale {
  readonly set: ApiObject;
  readonly replicas: number;
}

/** A Deployment's ReplicaSets: the one of its template, where that is made, and those of former templates. */
export interface Sets {
  readonly current: ApiObject | undefined;
  readonly old: readonly ApiObject[];
}

export function replicasOf(object: ApiObject): number {
  return numberOf(objectOf(object, "spec"), "replicas") ?? 1;
}

/** How many Pods a new ReplicaSet begins with; undefined while Recreate waits for the old Pods to go. */
export function firstReplicas(deployment: ApiObject, { old }: Sets): number | undefined {
  if (isRecreating(deployment)) {
    return old.some((set) => replicasOf(set) > 0 || countOf(set, "replicas") > 0) ? undefined : replicasOf(deployment);
  }
  return Math.max(0, Math.min(replicasOf(deployment), mostPods(deployment) - sum(old)));
}

/**
 * The next step of a rollout, empty where there is none now, as kube's controller takes it (rolling.go, recreate.go): of a
 * rolling update the new set grows as far as `maxSurge` lets it, else the old ones shrink as far as `maxUnavailable` lets
 * them, what is not available first; of Recreate the old Pods go before the new ones come.
 */
export function nextScales(deployment: ApiObject, sets: Sets): readonly Scale[] {
  const { current, old } = sets;
  if (isRecreating(deployment)) {
    const emptied = old.filter((set) => replicasOf(set) > 0).map((set) => ({ set, replicas: 0 }));
    if (emptied.length > 0 || current === undefined) return emptied;
    return scaled(current, firstReplicas(deployment, sets) ?? replicasOf(current));
  }
  if (current === undefined) return [];
  const grown = scaled(current, replicasOfCurrent(deployment, current, old));
  return grown.length > 0 ? grown : shrunk(deployment, current, old);
}

function replicasOfCurrent(deployment: ApiObject, current: ApiObject, old: readonly ApiObject[]): number {
  const [wanted, present] = [replicasOf(deployment), replicasOf(current)];
  if (present >= wanted) return wanted;
  const room = Math.max(0, mostPods(deployment) - sum([current, ...old]));
  return present + Math.min(room, wanted - present);
}

/** What is not available goes as far as no available Pod is missed for it; of the others as many as there are too many. */
function shrunk(deployment: ApiObject, current: ApiObject, old: readonly ApiObject[]): readonly Scale[] {
  const fewest = replicasOf(deployment) - maxUnavailable(deployment);
  const unavailable = replicasOf(current) - countOf(current, "availableReplicas");
  const most = sum([current, ...old]) - fewest - unavailable;
  if (sum(old) === 0 || most <= 0) return [];
  const byAge = old.toSorted(byCreation);
  const cleaned = takeOff(
    byAge.map((set) => ({ set, replicas: replicasOf(set) })),
    most,
    ({ set, replicas }) => Math.max(0, replicas - countOf(set, "availableReplicas")),
  );
  const available = [current, ...old].reduce((total, set) => total + countOf(set, "availableReplicas"), 0);
  const kept = takeOff(cleaned, available - fewest, ({ replicas }) => replicas);
  return kept.filter(({ set, replicas }) => replicas !== replicasOf(set));
}

/** Takes `most` off in all, from the first on, of each as many as it has to give. */
function takeOff(scales: readonly Scale[], most: number, given: (scale: Scale) => number): readonly Scale[] {
  let left = Math.max(0, most);
  return scales.map((scale) => {
    const taken = Math.min(left, given(scale));
    left -= taken;
    return { set: scale.set, replicas: scale.replicas - taken };
  });
}

function scaled(set: ApiObject, replicas: number): readonly Scale[] {
  return replicas === replicasOf(set) ? [] : [{ set, replicas }];
}

/** The oldest first. */
export function byCreation(one: ApiObject, other: ApiObject): number {
  const [first, second] = [one, other].map((set) => `${textOf(metadataOf(set), "creationTimestamp")} ${nameOf(set)}`);
  return (first ?? "") < (second ?? "") ? -1 : 1;
}

function isRecreating(deployment: ApiObject): boolean {
  return textOf(objectOf(objectOf(deployment, "spec"), "strategy"), "type") === "Recreate";
}

/** A count in the status of a ReplicaSet; 0 where the status leaves it out. */
export function countOf(set: ApiObject, field: string): number {
  return numberOf(objectOf(set, "status"), field) ?? 0;
}

function sum(sets: readonly ApiObject[]): number {
  return sets.reduce((total, set) => total + replicasOf(set), 0);
}

function mostPods(deployment: ApiObject): number {
  const wanted = replicasOf(deployment);
  return wanted + amountOf(rollingOf(deployment), "maxSurge", wanted, Math.ceil);
}

/** How many Pods may be missing. Percents are rounded down; if surge rounds to nothing too, one Pod may be missing. */
export function maxUnavailable(deployment: ApiObject): number {
  const rolling = rollingOf(deployment);
  if (rolling === undefined) return 0;
  const wanted = replicasOf(deployment);
  const unavailable = Math.min(wanted, amountOf(rolling, "maxUnavailable", wanted, Math.floor));
  return unavailable === 0 && amountOf(rolling, "maxSurge", wanted, Math.ceil) === 0 ? 1 : unavailable;
}

function rollingOf(deployment: ApiObject): JsonObject | undefined {
  return objectOf(objectOf(objectOf(deployment, "spec"), "strategy"), "rollingUpdate");
}

function amountOf(
  rolling: JsonObject | undefined,
  field: string,
  wanted: number,
  round: (value: number) => number,
): number {
  const value = rolling?.[field];
  return typeof value === "string" ? round((Number.parseInt(value, 10) * wanted) / 100) : Number(value ?? 0);
}
