import { type GoValue, goJson } from "../../core/go-json.ts";
import { eventTime, goZeroTime } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider, ProviderSettings } from "../provider.ts";

/** An alert of Prometheus Alertmanager. It ends by Alertmanager's own `resolve_timeout`. */
export const alertmanager: MakeProvider = (settings, parts) => {
  const { address: url, proxy, tls } = settings;
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid Alertmanager URL ${url}: '${fault}'`);
  return {
    post: (event, signal) =>
      postAsMessage({ url, headers: login(settings), body: goJson([alert(event)]), proxy, tls }, parts, signal),
  };
};

function login({ username, password, token }: ProviderSettings): Readonly<Record<string, string>> {
  if (username !== "" && password !== "") return { authorization: basicLogin(username, password) };
  return token === "" ? {} : { authorization: `Bearer ${token}` };
}

/** The value of `Authorization` for a name and a password. */
export function basicLogin(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function alert(event: NotificationEvent): GoValue {
  const { kind, name, namespace } = event.involvedObject;
  const { message, reason, severity, reportingController } = event;
  const metadata = new Map(Object.entries(event.metadata ?? {}));
  const summary = metadata.get("summary");
  metadata.delete("summary");
  const labels = new Map([
    ...metadata,
    ["alertname", `Flux${kind}${titleCased(reason)}`],
    ["severity", severity],
    ["reason", reason],
    ["kind", kind],
    ["name", name],
    ["namespace", namespace],
    ["reportingcontroller", reportingController],
  ]);
  const annotations = new Map([
    ["message", message],
    ...(summary === undefined ? [] : [["summary", summary] as const]),
  ]);
  return { status: "firing", labels, annotations, startsAt: eventTime(event), endsAt: goZeroTime };
}

/** Each word begins with an upper-case letter, and its other letters are lower case. */
function titleCased(text: string): string {
  return text.toLowerCase().replaceAll(/(?<![\p{L}\p{N}_'’.])\p{L}/gu, (letter) => letter.toUpperCase());
}
