import { goUrlFault } from "../core/go-url-fault.ts";

/** What Go's `url.ParseRequestURI` says of an address, as in `parse "": empty url`; undefined if it takes it. */
export function goAddressFault(address: string): string | undefined {
  const fault = addressFault(address);
  return fault === undefined ? undefined : `parse ${JSON.stringify(address)}: ${fault}`;
}

function addressFault(address: string): string | undefined {
  const control = goUrlFault(address);
  if (control?.startsWith("net/url: invalid control") === true) return control;
  if (address === "") return "empty url";
  if (address.startsWith(":")) return "missing protocol scheme";
  if (!address.startsWith("/") && !/^[a-z][a-z\d+.-]*:/i.test(address)) return "invalid URI for request";
  return control;
}
