import { createHmac } from "node:crypto";
import { eventJson } from "../event-json.ts";
import { goAddressFault } from "../go-address-fault.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider, ProviderParts, ProviderSettings } from "../provider.ts";

/** The event itself, to any address. */
export const generic: MakeProvider = (settings, parts) => forwarder(settings, parts, () => ({}));

/** {@link generic}, with a signature of the body that no header of the Secret replaces. */
export const genericHmac: MakeProvider = (settings, parts) => {
  const made = forwarder(settings, parts, (body) => {
    const signature = createHmac("sha256", settings.token).update(body).digest("hex");
    return { "x-signature": `sha256=${signature}` };
  });
  if (settings.token === "") throw new Error("HMAC key is empty");
  return made;
};

function forwarder(
  { address: url, headers, proxy, tls }: ProviderSettings,
  parts: ProviderParts,
  signature: (body: string) => Readonly<Record<string, string>>,
): ReturnType<MakeProvider> {
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid hook URL ${url}: ${fault}`);
  return {
    post: (event, signal) => {
      const body = eventJson(event);
      const message = {
        url,
        headers: { "gotk-component": event.reportingController, ...headers, ...signature(body) },
        ...{ body, proxy, tls },
      };
      return postAsMessage(message, parts, signal);
    },
  };
}
