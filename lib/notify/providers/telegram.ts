import { goJson } from "../../core/go-json.ts";
import { isError, sortedMetadata } from "../describe-event.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** A chat of Telegram, or a topic of it (`chat:topic`), by the token of a bot. */
export const telegram: MakeProvider = ({ channel, token, proxy }, parts) => {
  if (channel === "") throw new Error("empty Telegram channel");
  if (token === "") throw new Error("empty Telegram token");
  const [chat = ""] = channel.split(":", 1);
  const thread = channel.slice(chat.length + 1);
  const url = `https://api.telegram.org/bot${token}/sendMessage`;
  return {
    post: (event, signal) => {
      const body = goJson({
        chat_id: chat,
        message_thread_id: thread === "" ? undefined : thread,
        text: markdown(event),
        parse_mode: "MarkdownV2",
      });
      return postMessage({ url, body, proxy }, parts, signal);
    },
  };
};

function markdown(event: NotificationEvent): string {
  const { kind, name, namespace } = event.involvedObject;
  const heading = `${isError(event) ? "🚨" : "💫"} ${kind.toLowerCase()}/${name}/${namespace}`;
  const lines = sortedMetadata(event).map(([key, value]) => `\\- *${escaped(key)}*: ${escaped(value)}\n`);
  return `*${escaped(heading)}*\n${escaped(event.message)}\n${lines.join("")}`;
}

/** What MarkdownV2 reads as markup. */
function escaped(text: string): string {
  return text.replaceAll(/[\\.\-_[\]()~>`#+=|{}!*]/g, String.raw`\$&`);
}
