import { declaredCanary } from "../../api/kinds/canary.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const canaryKind: Kind = {
  ...declaredCanary,
  flow: ({ canarySettings, ...parts }) =>
    loadedOnce(async () => {
      const [{ canaryFlow }, { canaryParts }] = await Promise.all([
        import("../canary/canary-flow.ts"),
        import("../canary/canary-parts-of.ts"),
      ]);
      return canaryFlow({ ...parts, settings: canarySettings, parts: canaryParts(parts) });
    }),
  // Its one condition says what became of a release, which an outage does not change.
  failing: (before) => before,
};
