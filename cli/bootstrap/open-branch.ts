import type { Outbound, TlsTrust } from "../../lib/core/ports/http.ts";
import { defaultGitLimits } from "../../lib/sources/git/git-remote.ts";
import type { GitService, GitTransport } from "../../lib/sources/git/git-transport.ts";
import { knownHostKeys } from "../../lib/sources/git/known-hosts.ts";
import { openGitRemote } from "../../lib/sources/git/open-git-remote.ts";
import { parseSshKey } from "../../lib/sources/git/ssh-key.ts";
import type { GitClone } from "../../lib/sources/git/write/git-clone.ts";
import { openGitClone } from "../../lib/sources/git/write/open-git-clone.ts";

/** How a repository is reached for writing. */
export type GitAccess =
  | {
      readonly kind: "http";
      readonly url: URL;
      readonly authorization: string | undefined;
      readonly tls: TlsTrust;
    }
  | {
      readonly kind: "ssh";
      readonly url: URL;
      /** PEM or OpenSSH's form. */
      readonly identity: string;
      readonly passphrase: string;
      readonly knownHosts: string;
    };

/** A branch of a repository to which commits can be pushed. Dispose ends the connections. */
export interface OpenBranch extends AsyncDisposable {
  readonly clone: GitClone;
}

/** `Basic …`. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/**
 * Clones a branch without its history; of a branch that does not exist yet the empty one, if the repository is empty.
 *
 * @throws Error for a branch that a repository with others does not have; a `GitFault`
 */
export async function openBranch(
  access: GitAccess,
  { branch, folder }: { readonly branch: string; readonly folder: string },
  outbound: Outbound,
  signal: AbortSignal,
): Promise<OpenBranch> {
  await using opening = new AsyncDisposableStack();
  const remote = opening.use(openGitRemote(await transportOf("git-upload-pack", access, outbound)));
  const receive = opening.use(await transportOf("git-receive-pack", access, outbound));
  const ref = `refs/heads/${branch}`;
  const listed = await remote.list(["HEAD", "refs/heads/"], signal);
  const found = listed.find(({ name }) => name === ref);
  if (found === undefined && listed.length > 0) {
    const others = listed.filter(({ name }) => name.startsWith("refs/heads/")).map(({ name }) => name.slice(11));
    throw new Error(
      `the repository has no branch ${branch}, it has ${others.slice(0, 5).join(", ")}: create it, or give another --branch`,
    );
  }
  const from = { checkout: found?.oid, listed, folders: [folder] };
  const clone = opening.use(await openGitClone({ remote, receive, limits: defaultGitLimits }, from, signal));
  const opened = opening.move();
  return { clone, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function transportOf(service: GitService, access: GitAccess, outbound: Outbound): Promise<GitTransport> {
  if (access.kind === "http") {
    const { httpTransport } = await import("../../lib/sources/git/http-transport.ts");
    const { url, authorization, tls } = access;
    const headers = authorization === undefined ? {} : { authorization };
    return httpTransport({ service, url: `${url.origin}${url.pathname}`, headers, tls }, outbound);
  }
  const { sshTransport } = await import("../../lib/sources/git/ssh-transport.ts");
  const { url, identity, passphrase, knownHosts } = access;
  const key = await parseSshKey(identity, passphrase);
  const hostKeys = knownHostKeys(knownHosts, { host: url.hostname, port: url.port === "" ? 22 : Number(url.port) });
  return sshTransport({ service, url, key, hostKeys }, outbound.dial);
}
