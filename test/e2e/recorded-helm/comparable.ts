import { isJsonObject, type Json, type JsonObject } from "../../../lib/core/json.ts";
import type { Left } from "./recording.ts";
import { withoutMends } from "../../doubles/without-mends.ts";

/** Fields that differ from run to run: times, durations, and the digests of records, which hold times. */
const volatile = new Set([
  "artifact",
  "deleted",
  "digest",
  "firstDeployed",
  "lastAttemptedReleaseActionDuration",
  "lastDeployed",
  "lastTransitionTime",
]);

/** What a step left without what differs from run to run, in an order that does not. */
export function comparable({ objects, events, releases, managed }: Left): Left {
  return {
    objects: objects.map(({ status, ...object }) =>
      isJsonObject(status) ? { ...object, status: withoutVolatile(status) } : object,
    ),
    // Controllers report different objects at the same time; the events of one object are in order.
    events: events
      .map((event) => ({ ...event, message: withoutMends(event.message.split("\n\nLast Helm logs:")[0] ?? "") }))
      .toSorted((a, b) => (a.object === b.object ? 0 : a.object < b.object ? -1 : 1)),
    releases: releases.toSorted((a, b) => compareText(secretOf(a), secretOf(b))),
    managed: managed.toSorted((a, b) => compareText(placeOf(a), placeOf(b))),
  };
}

function placeOf({ kind, name, namespace = "" }: Left["managed"][number]): string {
  return `${kind}/${namespace}/${name}`;
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function secretOf({ secret }: JsonObject): string {
  return typeof secret === "string" ? secret : "";
}

function withoutVolatile(value: Json, key = ""): Json {
  if (isJsonArray(value)) {
    const items = value.map((item) => withoutVolatile(item));
    return key === "conditions" ? items.toSorted((a, b) => compareText(typeOf(a), typeOf(b))) : items;
  }
  if (typeof value === "string") return key === "message" ? withoutMends(value) : value;
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !volatile.has(name));
  return Object.fromEntries(kept.map(([name, field]) => [name, withoutVolatile(field, name)]));
}

function isJsonArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function typeOf(condition: Json): string {
  return isJsonObject(condition) && typeof condition["type"] === "string" ? condition["type"] : "";
}
