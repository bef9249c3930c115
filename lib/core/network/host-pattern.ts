import { isIPv6 } from "node:net";

/** One host by name or, with `isBelow`, all names below it. */
export interface HostPattern {
  /** As a URL writes it: lower case, an IPv6 address in brackets. */
  readonly name: string;
  readonly isBelow: boolean;
  /** Undefined for any port. */
  readonly port: number | undefined;
}

/** Reads `registry.example.com`, `*.example.com` or either with `:PORT`; undefined for anything else. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const [, star, written = "", port] = /^(\*\.)?(\[[0-9a-f:.]+\]|[^*:/?#@\\[\]\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const isBelow = star !== undefined;
  // An address has no names below it, and the prefix `a.` makes such a URL invalid.
  const url = `http://${isBelow ? "a." : ""}${written}`;
  if (written === "" || !URL.canParse(url) || Number(port ?? 1) > 65_535 || Number(port ?? 1) === 0) return undefined;
  const name = hostName(new URL(url).hostname);
  return {
    name: isBelow ? name.slice("a.".length) : name,
    isBelow,
    port: port === undefined ? undefined : Number(port),
  };
}

/** `host`: the `hostname` of a URL, or a name for a resolver. */
export function matchesHost({ name, isBelow, port }: HostPattern, host: string, atPort: number): boolean {
  if (port !== undefined && port !== atPort) return false;
  const found = hostName(host);
  return isBelow ? found.endsWith(`.${name}`) : found === name;
}

/** A host in normal form: lower case, IPv6 in brackets, without the final dot of a fully qualified name. */
export function hostName(host: string): string {
  if (isIPv6(host)) return `[${host.toLowerCase()}]`;
  return host.toLowerCase().replace(/\.$/, "");
}
