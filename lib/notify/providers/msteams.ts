import { type GoValue, goJson } from "../../core/go-json.ts";
import { isError, objectName, sortedMetadata } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** A workflow of Microsoft Teams, which takes an Adaptive Card, or one of its older connectors, which take a MessageCard. */
export const msteams: MakeProvider = ({ address: url, proxy, tls }, parts) => {
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid MS Teams webhook URL ${url}: '${fault}'`);
  const card = hostOf(url).endsWith(".webhook.office.com") ? messageCard : adaptiveCard;
  return {
    post: (event, signal) => postAsMessage({ url, body: goJson(card(event)), proxy, tls }, parts, signal),
  };
};

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

function messageCard(event: NotificationEvent): GoValue {
  const summary = objectName(event);
  const facts = sortedMetadata(event).map(([name, value]) => ({ name, value }));
  return {
    "@type": "MessageCard",
    "@context": "http://schema.org/extensions",
    themeColor: isError(event) ? "FF0000" : "0076D7",
    summary,
    sections: [{ activityTitle: event.message, activitySubtitle: summary, facts }],
  };
}

function adaptiveCard(event: NotificationEvent): GoValue {
  const metadata = sortedMetadata(event).map(([title, value]) => ({ title, value }));
  const summary = metadata.filter(({ title }) => title === "summary");
  const facts = [...summary, ...metadata.filter(({ title }) => title !== "summary")];
  const items: readonly GoValue[] = [
    { type: "TextBlock", text: objectName(event), size: "large", weight: "bolder", wrap: true },
    {
      type: "TextBlock",
      text: event.message === "" ? undefined : event.message,
      color: isError(event) ? "attention" : undefined,
      wrap: true,
    },
    { type: "FactSet", facts: facts.length === 0 ? undefined : facts },
  ];
  return {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [{ type: "Container", items }],
          msteams: { width: "Full" },
        },
      },
    ],
  };
}
