import { declaredImageRepository } from "../../api/kinds/image-repository.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const imageRepositoryKind: Kind = {
  ...declaredImageRepository,
  flow: (parts) =>
    loadedOnce(async () => (await import("../image-repository/image-repository-flow.ts")).imageRepositoryFlow(parts)),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
