import { declaredHelmRepository } from "../../api/kinds/helm-repository.ts";
import { failed } from "../source/source-conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const helmRepositoryKind: Kind = {
  ...declaredHelmRepository,
  flow: (parts) =>
    loadedOnce(async () => (await import("../helm-repository/helm-repository-flow.ts")).helmRepositoryFlow(parts)),
  failing: (before, failure, now) => failed({ conditions: [...before] }, failure, now).conditions ?? [],
};
