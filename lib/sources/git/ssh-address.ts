import { GitFault } from "./git-fault.ts";
import type { GitService } from "./git-transport.ts";

/** Where a repository is that a URL `ssh://[user@]host[:port]/path` names. */
export interface SshAddress {
  readonly user: string;
  readonly host: string;
  readonly port: number;
  /** The repository, as the server's shell gets it. */
  readonly path: string;
}

/** Git hosts agree on it. */
const defaultUser = "git";
const defaultPort = 22;

/** Reads the URL as git does. Throws a {@link GitFault} `not-found` for one that names no path. */
export function sshAddress(url: URL): SshAddress {
  const path = decoded(url.pathname);
  if (path === "" || path === "/" || /\p{Cc}/u.test(path)) {
    throw new GitFault("not-found", "the URL does not name a repository on the host");
  }
  return {
    user: url.username === "" ? defaultUser : decoded(url.username),
    host: url.hostname,
    port: url.port === "" ? defaultPort : Number(url.port),
    // A path that begins with a home folder, as git hands it on.
    path: path.startsWith("/~") ? path.slice(1) : path,
  };
}

/** The command that the server runs, with the path in quotes as git's own client puts them (`sq_quote_buf` in its `quote.c`). */
export function serviceCommand(service: GitService, { path }: Pick<SshAddress, "path">): string {
  return `${service} '${path.replace(/['!]/g, String.raw`'\$&'`)}'`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
