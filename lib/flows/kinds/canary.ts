import { declaredCanary } from "../../api/kinds/canary.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { accountUser } from "../owner/service-account.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const canaryKind: Kind = {
  ...declaredCanary,
  flow: (parts) =>
    loadedOnce(async () => {
      const [{ canaryFlow }, { canaryParts }] = await Promise.all([
        import("../canary/canary-flow.ts"),
        import("../canary/real-parts.ts"),
      ]);
      const { canaryHttp, canarySettings: settings, clock, metricServers } = parts;
      const userOf = (live: LiveObject) => accountUser(live, parts.defaultServiceAccount);
      return canaryFlow({
        ...parts,
        settings,
        clusterOf: (live) => {
          const user = userOf(live);
          return user === undefined ? parts.home : parts.targetAs(user);
        },
        parts: canaryParts({ canaryHttp, clock, metricServers, userOf: ({ live }) => userOf(live) }),
      });
    }),
  // Its only condition describes the release: an outage is reported by an Event alone.
  failing: (before) => before,
};
