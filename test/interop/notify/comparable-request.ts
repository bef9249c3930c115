import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { traceOf } from "../../unit/notify/read-trace.ts";

/** A request as the host of a Provider has got it, without what each client says about itself and its connection. */
export interface GotRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed if it is JSON. */
  readonly body: unknown;
}

/** Of a connection and a client, or of no meaning to a receiver. */
const ofClients = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "host",
  "transfer-encoding",
  "user-agent",
]);

/** What is left to compare of a request; undefined for one that Sluice leaves out on purpose. */
export function comparableRequest(
  type: string,
  { headers, method = "", url = "" }: IncomingMessage,
  body: Buffer,
): GotRequest | undefined {
  const own = Object.entries(headers).filter(([name]) => !ofClients.has(name));
  const request = { method, path: url, headers: Object.fromEntries(own), body: parsed(body.toString()) };
  if (type === "otel") return { ...request, body: comparableTrace(body) };
  if (type === "sentry") return comparableEnvelope(request, body.toString());
  // Azure's client asks for the paths of the API, and both make up the ID of a session.
  if (type === "azuredevops") return method === "OPTIONS" ? undefined : masked(request, "x-tfs-session");
  return request;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body;
  }
}

function masked(request: GotRequest, header: string): GotRequest {
  const isGiven = typeof request.headers[header] === "string" && request.headers[header] !== "";
  return { ...request, headers: { ...request.headers, [header]: isGiven ? "<given>" : "" } };
}

/** Without the ID of the span, which Flux makes up, and the moment of sending. */
function comparableTrace(body: Buffer): unknown {
  const { spanId, startTimeUnixNano, endTimeUnixNano, kind, flags, status, ...trace } = traceOf(body);
  const numbers = [startTimeUnixNano, kind, flags, status.code].map(String);
  return { ...trace, message: status.message, numbers, lengths: [spanId.length, endTimeUnixNano === undefined] };
}

const Fields = z.record(z.string(), z.unknown());
const Transaction = z.looseObject({ spans: z.array(Fields), contexts: z.looseObject({ trace: Fields }) });

/** Without IDs that Flux makes up, and what its client tells of itself, its process and its machine. */
function comparableEnvelope(request: GotRequest, text: string): GotRequest {
  const [head = {}, item = {}, payload = {}] = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Fields.parse(JSON.parse(line)));
  const { event_id: _id, sent_at: _at, sdk: _sdk, ...ofHead } = head;
  const { length: _length, ...ofItem } = item;
  const login = String(request.headers["x-sentry-auth"]).replace(/sentry_client=[^,]+/, "sentry_client=<…>");
  return {
    ...request,
    headers: { ...request.headers, "x-sentry-auth": login },
    body: [ofHead, ofItem, comparablePayload(payload)],
  };
}

function comparablePayload(payload: z.infer<typeof Fields>): unknown {
  const { event_id: _id, modules: _modules, platform: _platform, sdk: _sdk, ...own } = payload;
  const { device: _device, os: _os, runtime: _runtime, ...contexts } = Fields.parse(own["contexts"]);
  const transaction = Transaction.safeParse(own).data;
  if (transaction === undefined) return { ...own, contexts };
  // The name of its machine, which the client sets where Flux sets none.
  const { server_name: _machine, ...told } = own;
  const withoutIds = ({ trace_id: _trace, span_id: _span, ...fields }: z.infer<typeof Fields>) => fields;
  return {
    ...told,
    contexts: { ...contexts, trace: withoutIds(transaction.contexts.trace) },
    spans: transaction.spans.map(withoutIds),
  };
}
