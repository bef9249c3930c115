import { type GoValue, goJson } from "../../core/go-json.ts";
import type { HttpResponse } from "../../core/ports/http.ts";
import { isError, objectName, sortedMetadata } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** An incoming webhook of Slack, or its API `chat.postMessage`. */
export const slack: MakeProvider = (settings, parts) => {
  const { address: url, channel, username, token, proxy, tls } = settings;
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid Slack hook URL ${url}: '${fault}'`);
  return {
    post: (event, signal) =>
      postAsMessage(
        {
          url,
          headers: token === "" ? {} : { authorization: `Bearer ${token}` },
          body: slackMessage(event, {
            channel,
            username: username === "" ? event.reportingController : username,
            color: isError(event) ? "danger" : "good",
            fallback: `${objectName(event)}: ${event.message.split("\n", 1)[0] ?? ""}`,
          }),
          ...(url === chatApi ? { check: assertTaken } : {}),
          ...{ proxy, tls },
        },
        parts,
        signal,
      ),
  };
};

/** It answers 200 whatever became of the message. */
const chatApi = "https://slack.com/api/chat.postMessage";

function assertTaken({ body }: HttpResponse): void {
  const { ok, error } = slackAnswer(Buffer.from(body).toString());
  if (ok !== true) throw new Error(`Slack responded with error: ${typeof error === "string" ? error : ""}`);
}

function slackAnswer(text: string): { readonly ok?: unknown; readonly error?: unknown } {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (cause) {
    throw new Error("unable to unmarshal response body: it is not JSON", { cause });
  }
  return typeof answer === "object" && answer !== null ? answer : {};
}

/** What differs between the chats that take Slack's format. */
interface SlackWords {
  readonly channel: string;
  readonly username: string;
  readonly color: string;
  readonly fallback: string;
}

/** The message in Slack's format, which Discord and Rocket.Chat take too. */
export function slackMessage(event: NotificationEvent, { channel, username, color, fallback }: SlackWords): string {
  const fields: readonly GoValue[] = sortedMetadata(event).map(([title, value]) => ({ title, value, short: false }));
  return goJson({
    channel,
    username,
    icon_url: "",
    icon_emoji: "",
    attachments: [
      {
        fallback,
        color,
        author_name: objectName(event),
        text: event.message,
        mrkdwn_in: ["text"],
        fields,
      },
    ],
  });
}
