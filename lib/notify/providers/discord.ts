import { posix } from "node:path";
import { isError } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";
import { slackMessage } from "./slack.ts";

/** A webhook of Discord, at the path that takes Slack's format. */
export const discord: MakeProvider = ({ address, username, proxy }, parts) => {
  const fault = goAddressFault(address);
  if (fault !== undefined) throw new Error(`invalid Discord hook URL ${address}: '${fault}'`);
  const url = address.endsWith("/slack") ? address : slackPath(address);
  return {
    post: (event, signal) =>
      postAsMessage(
        {
          url,
          body: slackMessage(event, {
            channel: "",
            username: username === "" ? event.reportingController : username,
            color: isError(event) ? "danger" : "good",
            fallback: "",
          }),
          proxy,
        },
        parts,
        signal,
      ),
  };
};

function slackPath(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.pathname = posix.join(url.pathname, "slack");
  return url.href;
}
