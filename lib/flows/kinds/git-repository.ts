import { declaredGitRepository } from "../../api/kinds/git-repository.ts";
import { conditionByReason } from "../git-repository/condition-by-reason.ts";
import { failed } from "../source/source-conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const gitRepositoryKind: Kind = {
  ...declaredGitRepository,
  flow: (parts) =>
    loadedOnce(async () => {
      const [{ githubAppTokens }, { gitRepositoryFlow }, { repositoryOpener }] = await Promise.all([
        import("../../sources/git/github-app.ts"),
        import("../git-repository/git-repository-flow.ts"),
        import("../git-repository/open-repository.ts"),
      ]);
      const { clock, gitLogins, http, sshAlgorithms } = parts;
      const logins = { github: githubAppTokens(http, clock), aws: gitLogins?.aws };
      const openRepository = repositoryOpener({ http, dial: http.dial, logins, sshAlgorithms });
      return gitRepositoryFlow({ ...parts, openRepository });
    }),
  failing: (before, failure, now) =>
    failed({ conditions: [...before] }, failure, now, conditionByReason).conditions ?? [],
};
