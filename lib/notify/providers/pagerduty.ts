import { type GoValue, goJson } from "../../core/go-json.ts";
import { eventTime, isError, reasonInWords } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { inWords, postMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** An incident of PagerDuty: an error triggers it, another event of the same object resolves it and is a change event. */
export const pagerduty: MakeProvider = ({ address, channel: routing_key, proxy, tls }, parts) => {
  const fault = goAddressFault(address);
  if (fault !== undefined) throw new Error(`invalid PagerDuty endpoint URL ${JSON.stringify(address)}: '${fault}'`);
  const origin = URL.canParse(address) ? new URL(address).origin : "://";
  return {
    async post(event, signal) {
      if (event.reason === "Progressing") return;
      const send = (path: string, body: GoValue): Promise<void> =>
        postMessage({ url: `${origin}${path}`, body: goJson(body), proxy, tls }, parts, signal);
      await inWords("failed sending event", signal, () => send("/v2/enqueue", incident(event, routing_key)));
      if (event.severity !== "info") return;
      const payload = changeOf(event);
      await inWords("failed sending change event", signal, () => send("/v2/change/enqueue", { routing_key, payload }));
    },
  };
};

function incident(event: NotificationEvent, routing_key: string): GoValue {
  const { name, kind, uid = "" } = event.involvedObject;
  const dedup_key = uid === "" ? undefined : uid;
  if (!isError(event)) return { routing_key, event_action: "resolve", dedup_key };
  const { summary, source, timestamp, custom_details } = changeOf(event);
  return {
    ...{ routing_key, event_action: "trigger", dedup_key },
    payload: { summary, source, severity: "error", timestamp, component: name, group: kind, custom_details },
  };
}

function changeOf(event: NotificationEvent): { readonly [field: string]: GoValue } {
  const { message, metadata = {}, involvedObject, reportingController } = event;
  return {
    summary: `${reasonInWords(event)}: ${`${involvedObject.kind}/${involvedObject.name}`.toLowerCase()}`,
    source: `Flux ${reportingController}`,
    timestamp: eventTime(event),
    custom_details: { message, metadata: new Map(Object.entries(metadata)) },
  };
}
