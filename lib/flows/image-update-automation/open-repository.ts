import { openGitClone } from "../../sources/git/write/open-git-clone.ts";
import { writableRepositoryOpener } from "../git-repository/open-repository.ts";
import type { GitConnections } from "../git-repository/transport.ts";
import type { AutomationDeps } from "./automation-context.ts";

/** Opens the repositories of automations over these connections. */
export function automationRepositories(connections: GitConnections): AutomationDeps["openRepository"] {
  const open = writableRepositoryOpener(connections);
  return async (spec, access) => {
    const repository = await open(spec.url, spec, access);
    return {
      remote: repository.remote,
      clone: (at, signal) => openGitClone(repository, at, signal),
      [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
    };
  };
}
