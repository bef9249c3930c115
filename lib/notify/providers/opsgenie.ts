import { goJson } from "../../core/go-json.ts";
import { goAddressFault } from "../go-address-fault.ts";
import { postAsMessage } from "../post-json.ts";
import type { MakeProvider } from "../provider.ts";

/** An alert of Opsgenie, by an API key. */
export const opsgenie: MakeProvider = ({ address: url, token, proxy, tls }, parts) => {
  const fault = goAddressFault(url);
  if (fault !== undefined) throw new Error(`invalid Opsgenie hook URL ${url}: '${fault}'`);
  if (token === "") throw new Error("empty Opsgenie apikey/token");
  return {
    post: ({ involvedObject: { kind, name }, message, metadata = {}, severity }, signal) => {
      const details = new Map([...Object.entries(metadata), ["severity", severity]]);
      const body = goJson({ message: `${kind}/${name}`, description: message, details });
      return postAsMessage({ url, headers: { authorization: `GenieKey ${token}` }, body, proxy, tls }, parts, signal);
    },
  };
};
