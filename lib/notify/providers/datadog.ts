import { type GoValue, goJson } from "../../core/go-json.ts";
import { goUrlFault } from "../../core/go-url-fault.ts";
import { isError, sortedMetadata, unixSeconds } from "../describe-event.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { inWords, sendOnce } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** An event of Datadog, by an API key. As in Flux it is tried once. */
export const datadog: MakeProvider = ({ address, token, proxy, tls }, parts) => {
  if (token === "") throw new Error("token cannot be empty");
  const fault = goUrlFault(address);
  if (fault !== undefined) {
    const shown = JSON.stringify(address);
    throw new Error(`failed to parse address ${shown}: parse ${shown}: ${fault}`);
  }
  const origin = /^https?:\/\/[^/]/i.test(address) && URL.canParse(address) ? new URL(address).origin : defaultOrigin;
  const url = `${origin}/api/v1/events`;
  return {
    post: (event, signal) =>
      inWords("failed to post event to DataDog", signal, async () => {
        const headers = { accept: "application/json", "dd-api-key": token };
        const body = `${goJson(datadogEvent(event))}\n`;
        const { status } = await sendOnce({ url, headers, body, proxy, tls }, parts, signal);
        if (status >= 300) throw new Error(`${status} ${statusTexts[status] ?? ""}`.trimEnd());
      }),
  };
};

/** Where Datadog's client sends events if no address is set. */
const defaultOrigin = "https://api.datadoghq.com";

const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function datadogEvent(event: NotificationEvent): GoValue {
  const { kind, name, namespace } = event.involvedObject;
  return {
    alert_type: isError(event) ? "error" : "info",
    date_happened: unixSeconds(event),
    source_type_name: "fluxcd",
    tags: tagsOf(event),
    text: event.message,
    title: `Events from the ${kind} ${name}/${namespace}`,
  };
}

function tagsOf(event: NotificationEvent): readonly string[] {
  const { kind, name, namespace } = event.involvedObject;
  return [
    `flux_reporting_controller:${event.reportingController}`,
    `flux_reason:${event.reason}`,
    `kube_kind:${kind}`,
    `kube_name:${name}`,
    `kube_namespace:${namespace}`,
    ...sortedMetadata(event).map(([key, value]) => `${key}:${value}`),
  ].map((tag) => tag.toLowerCase());
}
