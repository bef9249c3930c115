import { posix } from "node:path";
import type { AlertSeverity } from "../../api/canary.ts";
import { type GoValue, goJson } from "../../core/go-json.ts";
import { goAddressFault } from "../../notify/go-address-fault.ts";
import type { Message } from "../../notify/post-json.ts";
import { proxyAt } from "../../secrets/proxy.ts";
import type { AlertField } from "./alert-fields.ts";

/** Where alerts go: an AlertProvider with its Secret, or what the installation names. */
export interface AlertReceiver {
  readonly type: "discord" | "gchat" | "msteams" | "rocket" | "slack";
  readonly address: string;
  readonly channel: string;
  readonly username: string;
  readonly token: string;
  readonly proxy: string;
}

/** The content of an alert. */
export interface AlertWords {
  /** `name.namespace` of the Canary. */
  readonly of: string;
  readonly message: string;
  readonly severity: AlertSeverity;
  readonly fields: readonly AlertField[];
}

/** The request of an alert, as Flagger makes it (reference canary 13). Throws for an invalid URL of the receiver or its proxy, without quoting it. */
export function alertMessage(receiver: AlertReceiver, words: AlertWords): Message {
  const { type, address, token, proxy } = receiver;
  if (goAddressFault(address) !== undefined) throw new Error(`invalid ${titles[type]} URL`);
  return {
    url: type === "discord" ? slackPath(address) : address,
    headers: type === "slack" && token !== "" ? { authorization: `Bearer ${token}` } : {},
    body: goJson(payloadOf(receiver, words)),
    ...(proxy === "" ? {} : { proxy: proxyAt(proxy, (why) => new Error(`unable to parse proxy URL: ${why}`)) }),
  };
}

const titles = {
  discord: "Discord hook",
  gchat: "Google Chat webhook",
  msteams: "MS Teams webhook",
  rocket: "Rocket hook",
  slack: "Slack hook",
} as const satisfies Record<AlertReceiver["type"], string>;

/** Where Discord takes Slack's format. */
function slackPath(address: string): string {
  if (address.endsWith("/slack") || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.pathname = posix.join(url.pathname, "slack");
  return url.href;
}

function payloadOf(receiver: AlertReceiver, words: AlertWords): GoValue {
  const isError = words.severity === "error";
  switch (receiver.type) {
    case "discord":
    case "slack":
      return slackPayload(receiver, words, isError ? "danger" : "good");
    case "rocket":
      return slackPayload(receiver, words, isError ? "#FF0000" : "#0076D7");
    case "msteams":
      return messageCard(words, isError ? "FF0000" : "0076D7");
    case "gchat":
      return chatCard(words);
  }
}

function slackPayload(
  { channel, username }: AlertReceiver,
  { of, message, fields }: AlertWords,
  color: string,
): GoValue {
  return {
    channel,
    username,
    icon_url: "",
    icon_emoji: ":rocket:",
    attachments: [
      {
        color,
        author_name: of,
        text: message,
        mrkdwn_in: ["text"],
        fields: fields.map(({ name, value }) => ({ title: name, value, short: false })),
      },
    ],
  };
}

function messageCard({ of, message, fields }: AlertWords, themeColor: string): GoValue {
  return {
    "@type": "MessageCard",
    "@context": "http://schema.org/extensions",
    themeColor,
    summary: of,
    sections: [
      {
        activityTitle: message,
        activitySubtitle: of,
        facts: fields.map(({ name, value }) => ({ name, value })),
      },
    ],
  };
}

function chatCard({ of, message, fields }: AlertWords): GoValue {
  const strong = (text: string): string => `<font color=#848484><strong>${text}</strong></font>`;
  const section = (text: string): GoValue => ({ widgets: [{ textParagraph: { text } }] });
  return {
    cards: [
      {
        header: { title: "Flagger", subtitle: of, imageUrl: "https://flagger.app/favicon.png" },
        sections: [
          section(strong(message)),
          ...fields.map(({ name, value }) => section(`${name}<br>${strong(value)}`)),
        ],
      },
    ],
  };
}
