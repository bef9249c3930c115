import { z } from "zod";
import { isJsonObject, type Json, type JsonObject, toJsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { withoutMends } from "../../doubles/without-mends.ts";
import type { Left } from "./recording.ts";

const Managed = z.array(
  z.object({
    ...{ manager: z.string(), operation: z.string(), apiVersion: z.string() },
    subresource: z.string().exactOptional(),
  }),
);

/** A live object in the form of the recordings. */
export function shownObject({ apiVersion, kind, metadata, spec, status }: LiveObject): JsonObject {
  return toJsonObject({ apiVersion, kind, metadata, spec, status });
}

const Event = z.object({
  involvedObject: z.object({ kind: z.string(), name: z.string() }),
  ...{ type: z.string(), reason: z.string(), message: z.string(), reportingComponent: z.string() },
});

export function shownEvent(event: LiveObject): JsonObject {
  const { involvedObject, type, reason, message, reportingComponent } = Event.parse(event);
  return { object: `${involvedObject.kind}/${involvedObject.name}`, type, reason, message, source: reportingComponent };
}

/** Fields that differ from run to run. */
const volatile = new Set(["creationTimestamp", "lastTransitionTime", "resourceVersion", "scanTime", "times", "uid"]);

/** What a step left without what differs from run to run, in an order that does not. */
export function comparable({ objects, events }: Left): Left {
  return {
    objects: objects.map((one) => withoutVolatile(managedIn(one))),
    // Objects are reported at the same time; the events of one object are in order.
    events: events.map((one) => withoutVolatile(one)).toSorted((a, b) => compareText(objectOf(a), objectOf(b))),
  };
}

function objectOf({ object }: JsonObject): string {
  return typeof object === "string" ? object : "";
}

function managedIn(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isJsonObject(metadata)) return object;
  const entries = Managed.parse(metadata["managedFields"] ?? []).toSorted((a, b) =>
    compareText(JSON.stringify([a.manager, a.subresource ?? ""]), JSON.stringify([b.manager, b.subresource ?? ""])),
  );
  return { ...object, metadata: { ...metadata, managedFields: entries.map((entry) => toJsonObject(entry)) } };
}

function withoutVolatile(object: JsonObject): JsonObject {
  const kept = Object.entries(object).filter(([name]) => !volatile.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, comparableValue(value)]));
}

function comparableValue(value: Json): Json {
  if (typeof value === "string") return comparableText(value);
  if (isJsonObject(value)) return withoutVolatile(value);
  return isList(value) ? value.map(comparableValue) : value;
}

/** Without the resolver that Go names, and without durations that are no whole hour. */
function comparableText(text: string): string {
  return withoutMends(text)
    .replaceAll(/(lookup \S+) on \S+: /g, "$1: ")
    .replace(/next scan in (?!1h0m0s$)\S+$/, "next scan in <duration>");
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
