import { sourceGroup } from "../names.ts";
import { ageColumn, type KindDeclaration, readyColumn, statusColumn } from "./declaration.ts";

export const declaredGitRepository = {
  group: sourceGroup,
  kind: "GitRepository",
  plural: "gitrepositories",
  shortNames: ["gitrepo"],
  categories: ["all", "fluxcd", "fluxcd-sources"],
  description: "GitRepository keeps the latest artifact of a git repository at hand.",
  versions: ["v1", "v1beta2", "v1beta1"],
  columns: [{ name: "URL", type: "string", jsonPath: ".spec.url" }, ageColumn, readyColumn, statusColumn],
  schemas: async () => {
    const { GitRepositorySpec, GitRepositoryStatus } = await import("../git-repository.ts");
    return { spec: GitRepositorySpec, status: GitRepositoryStatus };
  },
  // As recorded from Flux 2.9.
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  isSpecFollowed: true,
  words: {
    one: "git",
    many: "git",
    aliases: [],
    plural: "GitRepositories",
    revision: ["status", "artifact", "revision"],
    done: "fetched",
  },
} as const satisfies KindDeclaration;
