import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";

/** A live object in the form of the recordings. */

const Status = z.custom<JsonObject>(isJsonObject);

export function shownObject({ kind, metadata, status }: LiveObject) {
  const { name, namespace = "", finalizers } = metadata;
  const whole = Status.safeParse(status).data ?? {};
  if (kind !== "HelmRelease") return { kind, name, namespace, status: { conditions: whole["conditions"] ?? [] } };
  return { kind, name, namespace, ...(finalizers === undefined ? {} : { finalizers }), status: whole };
}

const Event = z.object({
  involvedObject: z.object({ kind: z.string(), name: z.string() }),
  type: z.string(),
  reason: z.string(),
  message: z.string(),
});

export function shownEvent(event: LiveObject) {
  const { involvedObject, type, reason, message } = Event.parse(event);
  const { annotations } = event.metadata;
  return {
    ...{ object: `${involvedObject.kind}/${involvedObject.name}`, type, reason, message },
    ...(annotations === undefined || Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

const Managed = z.object({
  managedFields: z
    .array(z.object({ manager: z.string(), operation: z.string(), subresource: z.string().optional() }))
    .default([]),
});

export function shownManaged({ apiVersion, kind, metadata, data }: LiveObject) {
  const { name, namespace = "", labels, annotations } = metadata;
  const { managedFields } = Managed.parse(metadata);
  const managers = managedFields
    .filter(({ subresource = "" }) => subresource !== "status")
    .map(({ manager, operation }) => `${manager} ${operation}`);
  return {
    ...{ apiVersion, kind, name, namespace },
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(data === undefined ? {} : { data }),
    managers: [...new Set(managers)].toSorted(),
  };
}

const Stored = z.looseObject({
  info: z.looseObject({ status: z.string(), description: z.string().optional() }),
  chart: z.looseObject({ metadata: z.unknown() }),
  hooks: z.array(z.looseObject({ last_run: z.looseObject({ phase: z.string().optional() }).optional() })).optional(),
  version: z.number(),
});

/** A release Secret: its type, its labels, and its record without times and without the files of the chart. */
export function shownRelease({ data, metadata, type }: LiveObject) {
  const text = isJsonObject(data) && typeof data["release"] === "string" ? data["release"] : "";
  const bytes = gunzipSync(Buffer.from(Buffer.from(text, "base64").toString(), "base64"));
  const { chart, hooks, info, ...release } = Stored.parse(JSON.parse(bytes.toString()));
  const { first_deployed: _first, last_deployed: _last, deleted: _deleted, ...told } = info;
  const { modifiedAt: _modified, createdAt: _created, ...labels } = metadata.labels ?? {};
  const shownHooks = hooks?.map(({ last_run, ...hook }) =>
    last_run === undefined ? hook : { ...hook, last_run: { phase: last_run.phase ?? null } },
  );
  return {
    ...{ secret: `${metadata.namespace}/${metadata.name}`, type: String(type), labels },
    release: {
      ...release,
      ...{ info: told, chart: chart.metadata },
      ...(shownHooks === undefined ? {} : { hooks: shownHooks }),
    },
  };
}
