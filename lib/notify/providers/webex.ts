import { goJson } from "../../core/go-json.ts";
import { isError, objectName, sortedMetadata } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** A room of Webex, by the token of a bot. */
export const webex: MakeProvider = ({ address: url, channel, token, proxy, tls }, parts) => {
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid Webex hook URL ${url}: '${fault}'`);
  const roomId = channel === "" ? undefined : channel;
  return {
    post: (event, signal) => {
      const body = goJson({ roomId, markdown: markdown(event) });
      return postAsMessage({ url, headers: { authorization: `Bearer ${token}` }, body, proxy, tls }, parts, signal);
    },
  };
};

function markdown(event: NotificationEvent): string {
  const lines = sortedMetadata(event).map(([key, value]) => `>**${key}**: ${value}\n`);
  return `${isError(event) ? "💣" : "✅"} **${objectName(event)}**\n${event.message}\n${lines.join("")}`;
}
