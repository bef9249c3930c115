import { isIPv6 } from "node:net";

/** Hosts by name: one, or with `isBelow` all names below it. */
export interface HostPattern {
  /** As a URL writes it: lower case, an IPv6 address in brackets. */
  readonly name: string;
  readonly isBelow: boolean;
  /** Any port where absent. */
  readonly port: number | undefined;
}

/** Reads `registry.example.com`, `*.example.com` or either with `:PORT`; undefined for anything else. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const [, star, written = "", port] = /^(\*\.)?(\[[0-9a-f:.]+\]|[^*:/?#@\\[\]\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const isBelow = star !== undefined;
  // Below an address there is nothing.
  const url = `http://${isBelow ? "a." : ""}${written}`;
  if (written === "" || !URL.canParse(url) || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return undefined;
  const name = hostName(new URL(url).hostname);
  return {
    name: isBelow ? name.slice("a.".length) : name,
    isBelow,
    port: port === undefined ? undefined : Number(port),
  };
}

/** `host`: as a URL's `hostname` or as a resolver is asked for it. */
export function matchesHost({ name, isBelow, port }: HostPattern, host: string, atPort: number): boolean {
  if (port !== undefined && port !== atPort) return false;
  const found = hostName(host);
  return isBelow ? found.endsWith(`.${name}`) : found === name;
}

/** One way to write a host: lower case, IPv6 in brackets, without the dot that a full name may end in. */
export function hostName(host: string): string {
  if (isIPv6(host)) return `[${host.toLowerCase()}]`;
  return host.toLowerCase().replace(/\.$/, "");
}
