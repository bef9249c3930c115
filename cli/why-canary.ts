import { declaredCanary } from "../lib/api/kinds/canary.ts";
import { routeKindAnnotation } from "../lib/api/names.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { ApiError } from "../lib/core/ports/cluster.ts";
import { canaryEvent, canaryTimeline, type Moment, type RouteShares, routeShares } from "./canary-timeline.ts";
import { conditionOf, countAt, isSuspended, textAt, valueAt } from "./objects/read-object.ts";
import { loadObject } from "./reconcile-object.ts";
import type { Session } from "./session.ts";
import { table } from "./table.ts";

/**
 * `why canary`: what has happened to a Canary and why, with the canary's share of the traffic after each step, and how it is now. Read from
 * its events, which the cluster keeps for an hour by default, its status and its route.
 */
export async function whyCanary(name: string, session: Session): Promise<void> {
  const canary = await loadObject(declaredCanary, name, session);
  const [events, shares] = await Promise.all([eventsOf(canary, session), sharesOf(canary, session)]);
  const isByMatch = hasMatch(canary) && countAt(canary, "spec", "analysis", "iterations") !== "0";
  const moments = [...canaryTimeline(events.map(canaryEvent), isByMatch), present(canary, shares, isByMatch)];
  const { terminal } = session;
  if (events.length === 0) terminal.note("the cluster has no events of this Canary, or has forgotten them\n");
  const rows = moments.map(({ when, canary: share, what, message }) => [
    when === "" ? "?" : when,
    share,
    what,
    message,
  ]);
  terminal.out(table(["When", "Canary", "What", "Message"], rows, terminal.columns()));
}

function hasMatch(canary: LiveObject): boolean {
  const match = valueAt(canary, "spec", "analysis", "match");
  return Array.isArray(match) && match.length > 0;
}

/** The events of the Canary, and none of an earlier one of its name, oldest first. Their times are whole seconds: within one, in the order in which the cluster stored them. */
async function eventsOf({ metadata }: LiveObject, { cluster, signal }: Session): Promise<readonly LiveObject[]> {
  const { name, namespace = "", uid } = metadata;
  const fieldSelector = `involvedObject.kind=${declaredCanary.kind},involvedObject.name=${name}`;
  const found = await cluster.list({ group: "", version: "v1", kind: "Event", namespace, fieldSelector }, signal);
  return found
    .filter((event) => textAt(event, "reason") === "Synced" && textAt(event, "involvedObject", "uid") === uid)
    .toSorted((a, b) => {
      const [earlier, later] = [canaryEvent(a).when, canaryEvent(b).when];
      return earlier === later ? stored(a) - stored(b) : earlier < later ? -1 : 1;
    });
}

function stored(event: LiveObject): number {
  return Number(event.metadata.resourceVersion ?? 0) || 0;
}

/** The kind of the Canary's route of the Gateway API. */
function routeKindOf({ metadata }: LiveObject): "GRPCRoute" | "HTTPRoute" {
  return metadata.annotations?.[routeKindAnnotation] === "GRPCRoute" ? "GRPCRoute" : "HTTPRoute";
}

/** What the route of the Canary sends where; undefined where it has none, or the user may not read it. */
async function sharesOf(canary: LiveObject, { cluster, signal }: Session): Promise<RouteShares | undefined> {
  const ref = { group: "gateway.networking.k8s.io", version: "v1", kind: routeKindOf(canary) };
  const { namespace = "" } = canary.metadata;
  try {
    const route = await cluster.get({ ...ref, namespace, name: apexOf(canary) }, signal);
    return route === undefined ? undefined : routeShares(route, `${apexOf(canary)}-canary`);
  } catch (error) {
    if (error instanceof ApiError && ["Forbidden", "NoMatch", "NotFound"].includes(error.reason)) return undefined;
    throw error;
  }
}

function apexOf(canary: LiveObject): string {
  const name = textAt(canary, "spec", "service", "name");
  return name === "" ? textAt(canary, "spec", "targetRef", "name") : name;
}

function present(canary: LiveObject, shares: RouteShares | undefined, isByMatch: boolean): Moment {
  const ofRoute = shares?.ofCanary.get(`${apexOf(canary)}-canary`);
  const weight = countAt(canary, "status", "canaryWeight");
  const threshold = countAt(canary, "spec", "analysis", "threshold");
  const facts = [
    phaseText(canary),
    ...(isSuspended({}, canary) ? ["suspended"] : []),
    ...iterationText(canary),
    `failed checks ${countAt(canary, "status", "failedChecks")} of ${threshold === "0" ? "1" : threshold}`,
    ...routeText(canary, shares, isByMatch),
  ];
  return {
    when: textAt(canary, "status", "lastTransitionTime"),
    canary: isByMatch && ofRoute !== undefined && ofRoute > 0 ? "matches" : `${ofRoute ?? weight}%`,
    what: "now",
    message: facts.join("; "),
  };
}

/** Flagger's condition speaks of an initialisation while a Canary is deleted. */
function phaseText(canary: LiveObject): string {
  const phase = textAt(canary, "status", "phase");
  const { deletionTimestamp } = canary.metadata;
  if (deletionTimestamp !== undefined) {
    const what = "its target gets the replicas of the primary, and the Canary goes once that is ready";
    return `${phase === "" ? "Terminating" : phase}: deleted at ${deletionTimestamp}, ${what}`;
  }
  const told = conditionOf(canary, "Promoted")?.message ?? "";
  if (phase === "") return told === "" ? "no step yet" : told;
  return `${phase}: ${told}`.replace(/[: .]+$/, "");
}

/** For an analysis by iterations: how many have passed. The one after the last is the step in which all traffic goes to the canary. */
function iterationText(canary: LiveObject): readonly string[] {
  const of = Number(countAt(canary, "spec", "analysis", "iterations"));
  if (of === 0 || !["Progressing", "WaitingPromotion"].includes(textAt(canary, "status", "phase"))) return [];
  return [`iteration ${Math.min(of, Number(countAt(canary, "status", "iterations")))} of ${of}`];
}

function routeText(canary: LiveObject, shares: RouteShares | undefined, isByMatch: boolean): readonly string[] {
  if (shares === undefined || shares.ofCanary.size === 0) return [];
  const listed = (of: RouteShares["ofCanary"]) => [...of].map(([name, share]) => `${share}% to ${name}`).join(", ");
  const requests = isByMatch ? " of the requests that match" : "";
  const others = isByMatch && shares.ofOthers.size > 0 ? `, of all others ${listed(shares.ofOthers)}` : "";
  return [`${routeKindOf(canary)} ${apexOf(canary)} sends${requests} ${listed(shares.ofCanary)}${others}`];
}
