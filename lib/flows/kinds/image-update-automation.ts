import { declaredImageUpdateAutomation } from "../../api/kinds/image-update-automation.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const imageUpdateAutomationKind: Kind = {
  ...declaredImageUpdateAutomation,
  flow: (parts) =>
    loadedOnce(async () =>
      (await import("../image-update-automation/image-update-automation-flow.ts")).imageUpdateAutomationFlow(parts),
    ),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
