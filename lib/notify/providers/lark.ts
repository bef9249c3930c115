import { goJson } from "../../core/go-json.ts";
import { isError, objectName, sortedMetadata } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import { postMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** A bot of Lark. As in Flux it takes neither a proxy nor certificates. */
export const lark: MakeProvider = ({ address: url }, parts) => {
  // Flux says Slack here.
  if (goAddressFault(url) !== undefined) throw new Error(`invalid Slack hook URL ${url}`);
  return {
    post: (event, signal) => {
      const lines = sortedMetadata(event).map(([key, value]) => `${key}: ${value}\n`);
      const title = `${isError(event) ? "🚨" : "💫"} ${objectName(event)}`;
      const body = goJson({
        msg_type: "interactive",
        card: {
          config: { wide_screen_mode: true },
          header: { title: { tag: "plain_text", content: title }, template: isError(event) ? "red" : "turquoise" },
          elements: [{ tag: "div", text: { tag: "lark_md", content: `**${event.message}**\n\n${lines.join("")}` } }],
        },
      });
      return postMessage({ url, body }, parts, signal);
    },
  };
};
