import { defaultGitLimits, type GitLimits } from "../../sources/git/git-remote.ts";
import { openGitClone } from "../../sources/git/write/open-git-clone.ts";
import { writableRepositoryOpener } from "../git-repository/open-repository.ts";
import type { GitConnections } from "../git-repository/transport.ts";
import type { AutomationDeps } from "./automation-context.ts";

/** Opens the repositories of automations over these connections, within these limits. */
export function automationRepositories(
  connections: GitConnections,
  limits: GitLimits = defaultGitLimits,
): AutomationDeps["openRepository"] {
  const open = writableRepositoryOpener(connections, limits);
  return async (spec, access) => {
    const repository = await open(spec.url, spec, access);
    return {
      remote: repository.remote,
      clone: (at, signal) => openGitClone(repository, at, signal),
      [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
    };
  };
}
