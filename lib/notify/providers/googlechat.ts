import { type GoValue, goJson } from "../../core/go-json.ts";
import { isError, objectName, sortedMetadata } from "../describe-event.ts";
import { goAddressFault } from "../go-address-fault.ts";
import type { NotificationEvent } from "../notification-event.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** An incoming webhook of Google Chat. */
export const googlechat: MakeProvider = ({ address: url, proxy }, parts) => {
  if (goAddressFault(url) !== undefined) throw new Error(`invalid Google Chat hook URL ${url}`);
  return {
    post: (event, signal) => postAsMessage({ url, body: goJson({ cards: [card(event)] }), proxy }, parts, signal),
  };
};

function card(event: NotificationEvent): GoValue {
  const text = isError(event) ? `<font color="#ff0000">${event.message}</font>` : event.message;
  const pairs: readonly GoValue[] = sortedMetadata(event).map(([topLabel, content]) => ({
    textParagraph: null,
    keyValue: { topLabel, content, contentMultiline: false, bottomLabel: null, icon: null },
  }));
  return {
    header: { title: objectName(event), subtitle: event.reportingController, imageUrl: null, imageStyle: null },
    sections: [
      { header: "", widgets: [{ textParagraph: { text }, keyValue: null }] },
      ...(pairs.length === 0 ? [] : [{ header: "", widgets: pairs }]),
    ],
  };
}
