import type { GitRepositorySpec } from "../../api/git-repository.ts";
import { parseDuration } from "../../core/duration.ts";
import { knownServers } from "../../sources/git/conversations.ts";
import { defaultGitLimits, type GitLimits, type GitRemote } from "../../sources/git/git-remote.ts";
import { openGitRemote } from "../../sources/git/open-git-remote.ts";
import type { WritableRepository } from "../../sources/git/write/open-git-clone.ts";
import type { AccessSpec } from "./credentials.ts";
import { type GitConnections, gitTransport, type TransportContext } from "./transport.ts";

/**
 * Opens the repository at this URL for a run: that of a GitRepository, or one of its submodules. It logs in as the spec says; of a
 * submodule on another host the spec has no login. `left`: the remaining budget of a revision, for one of its submodules.
 */
export type OpenRepository = (
  url: string,
  spec: GitRepositorySpec,
  ctx: TransportContext,
  left?: Pick<GitLimits, "maxPackBytes" | "timeoutMs">,
) => Promise<GitRemote>;

/** One git operation takes at most as long as a function may live, whatever `spec.timeout` says. */
export const maxGitTimeoutMs = 900_000;

/** How long one operation, or all submodules together, may take, in whole milliseconds as a timer takes them. */
export function gitTimeoutMs({ timeout }: Pick<GitRepositorySpec, "timeout">): number {
  return Math.min(Math.ceil(parseDuration(timeout)), maxGitTimeoutMs);
}

/** Opens repositories over these connections. Its cached facts about servers live as long as the process. */
export function repositoryOpener(connections: GitConnections): OpenRepository {
  const known = knownServers();
  return async (url, spec, ctx, left) => {
    const limits = { ...defaultGitLimits, timeoutMs: gitTimeoutMs(spec), ...left };
    return openGitRemote(await gitTransport(url, spec, limits, connections, ctx), limits, known);
  };
}

/**
 * Opens the repository at this URL for a run that reads it and pushes commits to it, for a GitRepository or an object that names one.
 * It logs in to both services of git as the spec says.
 */
export type OpenForWriting = (
  url: string,
  spec: AccessSpec & Pick<GitRepositorySpec, "timeout">,
  ctx: TransportContext,
) => Promise<WritableRepository>;

/** Opens repositories over these connections for reading and writing, within these limits but the time, which the spec sets. */
export function writableRepositoryOpener(
  connections: GitConnections,
  given: GitLimits = defaultGitLimits,
): OpenForWriting {
  const known = knownServers();
  return async (url, spec, ctx) => {
    const limits = { ...given, timeoutMs: gitTimeoutMs(spec) };
    await using opened = new AsyncDisposableStack();
    const remote = opened.use(openGitRemote(await gitTransport(url, spec, limits, connections, ctx), limits, known));
    const receive = opened.use(await gitTransport(url, spec, limits, connections, ctx, "git-receive-pack"));
    const owned = opened.move();
    return { remote, receive, limits, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  };
}
