import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { HttpRequest } from "../../../lib/core/ports/http.ts";
import type { NotificationEvent } from "../../../lib/notify/notification-event.ts";

const fixtures = join(import.meta.dirname, "../../fixtures/notify");

const Posted = z.object({
  involvedObject: z.looseObject({
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    apiVersion: z.string().default(""),
  }),
  severity: z.string(),
  timestamp: z.string().default(""),
  message: z.string(),
  reason: z.string(),
  reportingController: z.string().default(""),
  reportingInstance: z.string().default(""),
  metadata: z.record(z.string(), z.string()).default({}),
});

const Delivery = z.object({
  over: z.string().optional(),
  method: z.string().default(""),
  path: z.string().default(""),
  headers: z.record(z.string(), z.string()).default({}),
  /** Of NATS. */
  connect: z.record(z.string(), z.unknown()).optional(),
  publish: z.string().optional(),
  body: z.unknown().optional(),
  raw: z.string().optional(),
});

const Step = z.object({
  step: z.string(),
  posted: z.array(z.object({ event: Posted })).default([]),
  deliveries: z.array(Delivery),
  events: z.array(z.object({ message: z.string() })),
});

export type RecordedDelivery = z.infer<typeof Delivery>;

/** One step of a recording: the events as a provider gets them, what arrived, and what the Alert was told. */
export interface RecordedStep {
  readonly step: string;
  readonly events: readonly NotificationEvent[];
  readonly deliveries: readonly RecordedDelivery[];
  readonly failures: readonly string[];
}

/** The steps of `test/fixtures/notify/<scenario>`, in order. */
export function recordedSteps(scenario: string): readonly RecordedStep[] {
  const folder = join(fixtures, scenario);
  const files = readdirSync(folder)
    .filter((name) => /^\d/.test(name))
    .toSorted();
  return files.map((file) => {
    const text = readFileSync(join(folder, file), "utf8").replaceAll(
      /<0123456789 4000 times>/g,
      "0123456789".repeat(4000),
    );
    const { step, posted, deliveries, events } = Step.parse(parse(text));
    return {
      step,
      events: posted.map(({ event }) => taken(event)),
      deliveries,
      failures: events.map(({ message }) => message),
    };
  });
}

/** The event as intake and merging leave it: whole seconds of UTC, no internal keys, keys without the prefix of a group. */
function taken({ involvedObject, timestamp, metadata, ...event }: z.infer<typeof Posted>): NotificationEvent {
  const [group = ""] = involvedObject.apiVersion.split("/");
  const merged = new Map<string, string>();
  for (const prefix of ["event.toolkit.fluxcd.io/", `${group}/`]) {
    for (const [key, value] of Object.entries(metadata)) {
      if (key.startsWith(prefix)) merged.set(key.slice(prefix.length), value);
    }
  }
  for (const key of ["checksum", "digest", "token"]) merged.delete(key);
  return {
    involvedObject,
    timestamp: timestamp === "" ? "" : new Date(timestamp).toISOString().replace(/\.\d+Z$/, "Z"),
    ...(merged.size === 0 ? {} : { metadata: Object.fromEntries(merged) }),
    ...event,
  };
}

/** A request in the words of a recording. */
export function seen({ method, url, headers = {}, body = new Uint8Array(), proxy }: HttpRequest) {
  const { "user-agent": _, ...own } = headers;
  const { pathname, search } = new URL(url);
  return {
    ...(proxy === undefined ? {} : { over: "proxy" }),
    method,
    path: proxy === undefined ? `${pathname}${search}` : url,
    headers: own,
    raw: Buffer.from(body).toString(),
  };
}
