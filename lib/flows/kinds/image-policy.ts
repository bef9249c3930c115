import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { Failure } from "../../core/failure.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const imagePolicyKind: Kind = {
  ...declaredImagePolicy,
  flow: (parts) =>
    loadedOnce(async () => {
      const { imagePolicyFlow } = await import("../image-policy/image-policy-flow.ts");
      const digestOfTag = async (): Promise<never> => {
        throw new Failure(
          "UnsupportedField",
          "digests of tags are not looked up yet: set spec.digestReflectionPolicy to Never",
        );
      };
      return imagePolicyFlow({ ...parts, digestOfTag, checkRepository: () => undefined });
    }),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
