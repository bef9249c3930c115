import { declaredBucket } from "../../api/kinds/bucket.ts";
import { conditionByReason } from "../bucket/condition-by-reason.ts";
import { failed } from "../source/source-conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const bucketKind: Kind = {
  ...declaredBucket,
  flow: (parts) =>
    loadedOnce(async () => {
      const { bucketFlow } = await import("../bucket/bucket-flow.ts");
      return bucketFlow({ ...parts, logins: parts.bucketLogins ?? {} });
    }),
  failing: (before, failure, now) =>
    failed({ conditions: [...before] }, failure, now, conditionByReason).conditions ?? [],
};
