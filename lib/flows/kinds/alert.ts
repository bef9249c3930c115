import { declaredAlert } from "../../api/kinds/alert.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const alertKind: Kind = {
  ...declaredAlert,
  flow: (parts) => loadedOnce(async () => (await import("../alert/alert-flow.ts")).alertFlow(parts)),
  // It has no status for them.
  failing: (before) => before,
};
