import { goUrlFault } from "../core/go-url-fault.ts";

/** Where a repository is, as the providers of git hosts read the address. */
export interface RepositoryAddress {
  /** `https://github.com`, with the port if the address has one. Without a slash at its end. */
  readonly origin: string;
  /** `owner/repo`, however many parts it has. */
  readonly id: string;
}

/** Schemes that git clones by. Another one makes an address a path. */
const transports = new Set(["ssh", "git", "git+ssh", "http", "https", "ftp", "ftps", "rsync", "file"]);

interface Parts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
}

/**
 * Reads `https://host/owner/repo`, `ssh://git@host/owner/repo` and `git@host:owner/repo`. SSH becomes https, and `.git` at the end does
 * not count. What is none of these is a path without a host, as in Flux.
 */
export function repositoryAddress(address: string): RepositoryAddress {
  const { scheme, host, path } = urlParts(address) ?? scpParts(address) ?? { scheme: "file", host: "", path: address };
  return {
    origin: `${scheme === "ssh" ? "https" : scheme}://${host}`,
    id: path.replace(/^\/+/, "").replace(/\.git$/, ""),
  };
}

function urlParts(address: string): Parts | undefined {
  const [, scheme = "", rest = ""] = /^([a-z][a-z\d+.-]*):([^?#]*)/i.exec(address) ?? [];
  if (!transports.has(scheme.toLowerCase()) || goUrlFault(address) !== undefined) return undefined;
  const [, authority = "", path = ""] = /^\/\/([^/]*)(.*)$/s.exec(rest) ?? [
    undefined,
    "",
    rest.startsWith("/") ? rest : "",
  ];
  return {
    scheme: scheme.toLowerCase(),
    host: authority.slice(authority.lastIndexOf("@") + 1),
    path: unescaped(path),
  };
}

/** `user@host:path`. A path ends before the first character that it may not have. */
function scpParts(address: string): Parts | undefined {
  const [, host, path] = /^(?:[\w.~-]+@)?([\w.-]+):([\w./-]+)/.exec(address) ?? [];
  return host === undefined || path === undefined || address.length > 2048 ? undefined : { scheme: "ssh", host, path };
}

/** A path without the escapes of a URL. */
export function unescaped(path: string): string {
  return path.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll("%", ""), "hex").toString());
}

/** A segment of a path as Go's `url.PathEscape` writes it. */
export function escapedSegment(segment: string): string {
  return escapedValue(segment)
    .replaceAll("+", "%20")
    .replaceAll(/%(?:24|26|2B|3A|3D|40)/g, decodeURIComponent);
}

/** A value of a query as Go's `url.QueryEscape` writes it. */
export function escapedValue(value: string): string {
  return encodeURIComponent(value.toWellFormed())
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}
