import { declaredOciRepository } from "../../api/kinds/oci-repository.ts";
import { conditionByReason } from "../oci-repository/condition-by-reason.ts";
import { failed } from "../source/source-conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const ociRepositoryKind: Kind = {
  ...declaredOciRepository,
  flow: (parts) =>
    loadedOnce(async () => (await import("../oci-repository/oci-repository-flow.ts")).ociRepositoryFlow(parts)),
  failing: (before, failure, now) =>
    failed({ conditions: [...before] }, failure, now, conditionByReason).conditions ?? [],
};
