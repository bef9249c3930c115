import { declaredReceiver } from "../../api/kinds/receiver.ts";
import { failing } from "../conditions.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const receiverKind: Kind = {
  ...declaredReceiver,
  flow: (parts) => loadedOnce(async () => (await import("../receiver/receiver-flow.ts")).receiverFlow(parts)),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
