import { declaredImagePolicy } from "../../api/kinds/image-policy.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const imagePolicyKind: Kind = {
  ...declaredImagePolicy,
  flow: (parts) =>
    loadedOnce(async () => {
      const [{ imagePolicyFlow }, { digestLookup }] = await Promise.all([
        import("../image-policy/image-policy-flow.ts"),
        import("../image-policy/look-up-digest.ts"),
      ]);
      return imagePolicyFlow({ ...parts, digestOfTag: digestLookup(parts) });
    }),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
