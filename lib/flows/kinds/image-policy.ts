import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const imagePolicyKind: Kind = {
  ...declaredImagePolicy,
  flow: (parts) =>
    loadedOnce(async () => (await import("../image-policy/image-policy-flow.ts")).imagePolicyFlow(parts)),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
