import { declaredCanary } from "../../api/kinds/canary.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const canaryKind: Kind = {
  ...declaredCanary,
  flow: (parts) =>
    loadedOnce(async () => {
      const [{ canaryFlow }, { canaryParts }] = await Promise.all([
        import("../canary/canary-flow.ts"),
        import("../canary/real-parts.ts"),
      ]);
      const { canaryHttp, canarySettings: settings, clock } = parts;
      return canaryFlow({ ...parts, settings, parts: canaryParts({ canaryHttp, clock }) });
    }),
  // Its one condition says how the release goes: an outage is told by an Event alone.
  failing: (before) => before,
};
