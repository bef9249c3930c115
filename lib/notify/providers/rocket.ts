import { isError } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";
import { slackMessage } from "./slack.ts";

/** An incoming webhook of Rocket.Chat. */
export const rocket: MakeProvider = ({ address: url, channel, username, proxy, tls }, parts) => {
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid Rocket hook URL ${url}: '${fault}'`);
  return {
    post: (event, signal) => {
      const color = isError(event) ? "#FF0000" : "#0076D7";
      const body = slackMessage(event, { channel, username, color, fallback: "" });
      return postAsMessage({ url, body, proxy, tls }, parts, signal);
    },
  };
};
