import { createHash } from "node:crypto";
import { type GoValue, goJson } from "../../core/go-json.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import { ownVersion } from "../../core/own-version.ts";
import { isError } from "../describe-event.ts";
import { eventJson } from "../event-json.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { inWords, postMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** A project of Sentry, by its DSN: an error is an event, and other events are transactions. As in Flux it takes no proxy. */
export const sentry: MakeProvider = ({ address, channel, tls }, parts) => {
  if (address === "") throw new Error("DSN cannot be empty");
  const dsn = parseDsn(address);
  const environment = channel === "" ? undefined : channel;
  const headers = { "content-type": "application/x-sentry-envelope", "x-sentry-auth": dsn.login };
  return {
    async post(event, signal) {
      // Flux sends an error about itself for other severities.
      if (event.severity !== "error" && event.severity !== "info") return;
      const body = envelopeOf(event, dsn.text, environment, parts.now());
      const message = { url: dsn.url, headers, body, tls };
      await inWords("sending to Sentry failed", signal, () => postMessage(message, parts, signal));
    },
  };
};

interface Dsn {
  readonly text: string;
  /** Where envelopes of the project are sent. */
  readonly url: string;
  readonly login: string;
}

const client = { name: "sluice", version: ownVersion };

function parseDsn(address: string): Dsn {
  const fault = (why: string): Error => new Error(`[Sentry] DsnParseError: ${why}`);
  const unreadable = goUrlFault(address);
  if (unreadable !== undefined) throw fault(`invalid url: parse ${JSON.stringify(address)}: ${unreadable}`);
  if (!/^https?:/i.test(address)) throw fault("invalid scheme");
  if (!URL.canParse(address)) throw fault("empty host");
  const { origin, protocol, host, pathname, username, password } = new URL(address);
  if (username === "") throw fault("empty username");
  const at = pathname.lastIndexOf("/");
  const [path, project] = [pathname.slice(0, at), pathname.slice(at + 1)];
  if (project === "") throw fault("empty project id");
  const [key, secret] = [decodeURIComponent(username), decodeURIComponent(password)];
  const version = `sentry_version=7, sentry_client=${client.name}/${client.version}`;
  return {
    text: `${protocol}//${key}${secret === "" ? "" : `:${secret}`}@${host}${path}/${project}`,
    url: `${origin}${path}/api/${project}/envelope/`,
    login: `Sentry ${version}, sentry_key=${key}${secret === "" ? "" : `, sentry_secret=${secret}`}`,
  };
}

/** The envelope and its only item, a line of JSON each. If an event is sent twice, both copies have one ID. */
function envelopeOf(event: NotificationEvent, dsn: string, environment: string | undefined, now: number): string {
  const digest = createHash("sha256").update(eventJson(event)).digest("hex");
  const event_id = digest.slice(0, 32);
  const item = isError(event) ? errorOf(event) : transactionOf(event, digest);
  const body = goJson({
    ...{ environment, event_id, platform: "other", sdk: client, timestamp: timeOf(event, now) },
    ...{ message: event.message === "" ? undefined : event.message, transaction: summaryOf(event) },
    ...item,
  });
  const header = goJson({ event_id, sent_at: new Date(now).toISOString(), dsn, sdk: client });
  const type = isError(event) ? "event" : "transaction";
  return `${header}\n${goJson({ type, length: Buffer.byteLength(body) })}\n${body}\n`;
}

function timeOf({ timestamp }: NotificationEvent, now: number): string {
  return timestamp === "" ? new Date(now).toISOString() : timestamp;
}

function summaryOf({ involvedObject: { kind, namespace, name } }: NotificationEvent): string {
  return `${kind}: ${namespace}/${name}`;
}

function errorOf({ metadata = {}, reportingController }: NotificationEvent): { readonly [field: string]: GoValue } {
  const server_name = reportingController === "" ? {} : { server_name: reportingController };
  return { level: "error", ...server_name, contexts: { metadata: new Map(Object.entries(metadata)) } };
}

/** A transaction with one span, both as long as a moment. */
function transactionOf(event: NotificationEvent, digest: string): { readonly [field: string]: GoValue } {
  const { kind, namespace, name } = event.involvedObject;
  const [trace_id, span_id, op] = [digest.slice(32), digest.slice(0, 16), "event"];
  const tags = new Map([
    ["flux_involved_object_kind", kind],
    ["flux_involved_object_namespace", namespace],
    ["flux_involved_object_name", name],
    ["flux_reporting_controller", event.reportingController],
    ["flux_reporting_instance", event.reportingInstance ?? ""],
    ["flux_reason", event.reason],
    ...Object.entries(event.metadata ?? {}),
  ]);
  const moment = event.timestamp === "" ? {} : { start_timestamp: event.timestamp };
  const end = event.timestamp === "" ? {} : { timestamp: event.timestamp };
  return {
    level: "info",
    contexts: { trace: { op, span_id, trace_id } },
    ...{ tags, type: "transaction" },
    ...moment,
    spans: [{ trace_id, span_id, op, tags, origin: "manual", ...moment, ...end }],
  };
}
