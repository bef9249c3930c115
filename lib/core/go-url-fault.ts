/**
 * The error of Go's `url.Parse` for a URL with a host, as in `parse "<url>": …`; undefined for a valid URL. Node's own parser repairs some
 * of these, and only calls others invalid.
 */
export function goUrlFault(text: string): string | undefined {
  const [url = "", ...fragments] = text.split("#");
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\u007f]/.test(url)) return "net/url: invalid control character in URL";
  const [, authority = "", path = ""] = /^[^:/]+:\/\/([^/?]*)([^?]*)/.exec(url) ?? [];
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return hostFault(host) ?? escapeFault(path) ?? escapeFault(fragments.join("#"));
}

function hostFault(host: string): string | undefined {
  const isAddress = host.startsWith("[");
  if (isAddress && !host.includes("]")) return "missing ']' in host";
  const port = isAddress ? host.slice(host.lastIndexOf("]") + 1) : (/:.*$/s.exec(host)?.[0] ?? "");
  if (!/^(?::\d*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  // In a host the only character of ASCII that may be escaped is the percent sign.
  const [escaped] = /%(?!25)[0-7][0-9a-fA-F]/.exec(host) ?? [];
  if (escaped !== undefined) return `invalid URL escape ${JSON.stringify(escaped)}`;
  const [wrong] = /[ \\^`{|}]/.exec(host) ?? [];
  const fault = escapeFault(host);
  if (fault !== undefined || wrong === undefined) return fault;
  return `invalid character ${JSON.stringify(wrong)} in host name`;
}

function escapeFault(text: string): string | undefined {
  const [wrong] = /%(?![0-9a-fA-F]{2}).{0,2}/su.exec(text) ?? [];
  return wrong === undefined ? undefined : `invalid URL escape ${JSON.stringify(wrong)}`;
}
