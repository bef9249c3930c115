import { createHash } from "node:crypto";
import { goJson } from "../../core/go-json.ts";
import { isError, objectName, sortedMetadata } from "../describe-event.ts";
import { eventJson } from "../event-json.ts";
import { goAddressFault } from "../go-address-fault.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** A room of Matrix. As in Flux it takes no proxy. The digest of the event is the transaction: sent twice, it shows once. */
export const matrix: MakeProvider = ({ address, channel, token, tls }, parts) => {
  const fault = goAddressFault(address);
  if (fault !== undefined) throw new Error(`invalid Matrix homeserver URL ${address}: '${fault}'`);
  return {
    post: (event, signal) => {
      const transaction = createHash("sha1").update(eventJson(event)).digest("hex");
      const url = `${address}/_matrix/client/r0/rooms/${channel}/send/m.room.message/${transaction}`;
      const lines = sortedMetadata(event).map(([key, value]) => `- ${key}: ${value}\n`);
      const heading = `${isError(event) ? "🚨" : "💫"} ${objectName(event)}`;
      const body = goJson({ body: `${heading}\n${event.message}\n${lines.join("")}`, msgtype: "m.text" });
      const headers = { authorization: `Bearer ${token}` };
      return postAsMessage({ method: "PUT", url, headers, body, tls }, parts, signal);
    },
  };
};
