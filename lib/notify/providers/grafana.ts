import { goJson } from "../../core/go-json.ts";
import { objectName, sortedMetadata, unixSeconds } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider, ProviderSettings } from "../provider.ts";
import { basicLogin } from "./alertmanager.ts";

/** An annotation of Grafana. */
export const grafana: MakeProvider = (settings, parts) => {
  const { address: url, proxy, tls } = settings;
  if (goAddressFault(url) !== undefined) throw new Error(`invalid Grafana URL ${url}`);
  return {
    post: (event, signal) => {
      const body = goJson({ when: unixSeconds(event), text: objectName(event), tags: tagsOf(event) });
      return postAsMessage({ url, headers: login(settings), body, proxy, tls }, parts, signal);
    },
  };
};

function login({ username, password, token }: ProviderSettings): Readonly<Record<string, string>> {
  if (token !== "") return { authorization: `Bearer ${token}` };
  return username === "" || password === "" ? {} : { authorization: basicLogin(username, password) };
}

function tagsOf(event: NotificationEvent): readonly string[] {
  const { kind, name, namespace } = event.involvedObject;
  const metadata = sortedMetadata(event).map((pair) => pair.map((text) => text.replaceAll(":", "|")).join(": "));
  return ["flux", event.reportingController, ...metadata, `kind: ${kind}`, `name: ${name}`, `namespace: ${namespace}`];
}
