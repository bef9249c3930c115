import { declaredImageUpdateAutomation } from "../../api/kinds/image-update-automation.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const imageUpdateAutomationKind: Kind = {
  ...declaredImageUpdateAutomation,
  flow: (parts) =>
    loadedOnce(async () => {
      const [{ githubAppTokens }, { imageUpdateAutomationFlow }, { automationRepositories }] = await Promise.all([
        import("../../sources/git/github-app.ts"),
        import("../image-update-automation/image-update-automation-flow.ts"),
        import("../image-update-automation/open-repository.ts"),
      ]);
      const { clock, gitLogins, helm, http, sshAlgorithms } = parts;
      const logins = { github: githubAppTokens(http, clock), aws: gitLogins?.aws };
      const connections = { http, dial: http.dial, logins, sshAlgorithms };
      const openRepository = automationRepositories(connections);
      return imageUpdateAutomationFlow({ ...parts, openRepository, messages: helm });
    }),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
