import { createHash } from "node:crypto";
import { Secret } from "../../core/secret.ts";
import { isError, sortedMetadata } from "../describe-event.ts";
import { eventJson } from "../event-json.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { inWords, postMessage } from "../post-json.ts";
import {
  bytesField,
  fixed32Field,
  fixed64Field,
  messageField,
  numberField,
  type ProtobufField,
  textField,
} from "../protobuf.ts";
import type { MakeProvider, ProviderSettings } from "../provider.ts";
import { basicLogin } from "./alertmanager.ts";

/** A span of a trace, by OTLP over HTTP. All events of an Alert that name one revision are one trace. */
export const otel: MakeProvider = (settings, parts) => {
  const { address, tls, alert } = settings;
  const fault = goAddressFault(address);
  if (fault !== undefined || !URL.canParse(address)) {
    throw new Error(`invalid OTLP endpoint URL ${address}: '${fault ?? "it has no valid host or port"}'`);
  }
  const url = endpointOf(address);
  const headers = { ...withLogin(settings), "content-type": "application/x-protobuf" };
  const proxy = proxyOf(settings);
  return {
    async post(event, signal) {
      if (event.involvedObject.kind === "HelmRepository") return;
      const body = traceOf(event, alert, parts.now());
      await inWords("traces export", signal, () => postMessage({ url, headers, body, proxy, tls }, parts, signal));
    },
  };
};

function endpointOf(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${/^[^:]+:\/\/[^/?#]*(?:[?#]|$)/.test(address) ? "/v1/traces" : pathname}`;
}

/** A Secret without a token may have it as the password. */
function tokenOf({ token, password }: ProviderSettings): string {
  return token === "" ? password : token;
}

/** As in Flux a login is sent only if the Secret has headers. */
function withLogin(settings: ProviderSettings): Readonly<Record<string, string>> {
  const { headers, username } = settings;
  const token = tokenOf(settings);
  if (Object.keys(headers).length === 0 || (headers["Authorization"] ?? "") !== "") return headers;
  if (username === "") return { ...headers, Authorization: `Bearer ${token}` };
  return token === "" ? headers : { ...headers, Authorization: basicLogin(username, token) };
}

/** As in Flux a proxy is told the login of the Provider, here only if it has none of its own. */
function proxyOf(settings: ProviderSettings): ProviderSettings["proxy"] {
  const { proxy, username } = settings;
  const token = tokenOf(settings);
  if (proxy === undefined || proxy.username !== undefined || username === "" || token === "") return proxy;
  return { ...proxy, username, password: new Secret(token) };
}

/** The trace that the events of an Alert with this revision belong to. */
export function traceIdOf(
  { uid }: Pick<ProviderSettings["alert"], "uid">,
  { metadata = {} }: NotificationEvent,
): Uint8Array {
  const { revision = "unknown", "oci-digest": digest, "app-version": version } = metadata;
  const named = digest !== undefined && version !== undefined ? `${version}@${digest}` : revision;
  return createHash("sha256").update(`${uid}:${named}`).digest().subarray(0, 16);
}

const schema = "https://opentelemetry.io/schemas/1.34.0";
const [internalKind, okCode, errorCode] = [1, 1, 2];
/** Sampled; the parent is known to be, and is, remote. */
const flags = 0x301;

/** `ExportTraceServiceRequest` of opentelemetry-proto. Numbers are those of its fields. */
function traceOf(event: NotificationEvent, alert: ProviderSettings["alert"], now: number): Uint8Array {
  const resource = messageField(1, [
    attributeField(1, "service.instance.id", alert.uid),
    attributeField(1, "service.name", `${alert.namespace}/${alert.name}`),
    attributeField(1, "service.namespace", alert.namespace),
  ]);
  const scope = messageField(1, [textField(1, "flux:notification-controller")]);
  const scopeSpans = messageField(2, [scope, messageField(2, spanOf(event, alert, now))]);
  return Buffer.concat([messageField(1, [resource, scopeSpans, textField(3, schema)])]);
}

function spanOf(event: NotificationEvent, alert: ProviderSettings["alert"], now: number): readonly ProtobufField[] {
  const { kind, namespace, name, uid = "" } = event.involvedObject;
  const time = Date.parse(event.timestamp);
  // If an event is sent twice, both copies are one span.
  const id = createHash("sha256")
    .update(`${alert.uid}:${eventJson(event)}`)
    .digest()
    .subarray(0, 8);
  const attributes = new Map([
    ["object.uid", uid],
    ["object.kind", kind],
    ["object.name", name],
    ["object.namespace", namespace],
    ...sortedMetadata(event).filter(([key]) => key !== ""),
  ]);
  const status = isError(event) ? [textField(2, event.message), numberField(3, errorCode)] : [numberField(3, okCode)];
  return [
    bytesField(1, traceIdOf(alert, event)),
    bytesField(2, id),
    textField(5, `${kind}: ${namespace}/${name}`),
    numberField(6, internalKind),
    fixed64Field(7, nanoseconds(Number.isNaN(time) ? now : time)),
    fixed64Field(8, nanoseconds(now)),
    ...Array.from(attributes, ([key, value]) => attributeField(9, key, value)),
    messageField(15, status),
    fixed32Field(16, flags),
  ];
}

/** `KeyValue` with a text; here an empty text is written too. */
function attributeField(number: number, key: string, value: string): ProtobufField {
  return messageField(number, [textField(1, key), messageField(2, [bytesField(1, Buffer.from(value.toWellFormed()))])]);
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms))) * 1_000_000n;
}
