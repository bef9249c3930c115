import { declaredHelmRelease } from "../../api/kinds/helm-release.ts";
import { asTarget } from "../../core/ports/home-and-target.ts";
import { failing } from "../conditions.ts";
import { accountUser } from "../owner/service-account.ts";
import { type Kind, loadedOnce } from "./kind.ts";

export const helmReleaseKind: Kind = {
  ...declaredHelmRelease,
  flow: ({ gated, remoteClusters, targetAs, ...parts }) =>
    loadedOnce(async () => {
      const { helmReleaseFlow } = await import("../helm-release/helm-release-flow.ts");
      return helmReleaseFlow({
        ...parts,
        targetOf: async (live) => {
          const user = accountUser(live, parts.defaultServiceAccount);
          return user === undefined ? asTarget(parts.home) : targetAs(user);
        },
        remoteTargetOf: async (live, place, signal) => {
          const { openRemoteTarget } = await import("../owner/remote-target.ts");
          const { accountTokens } = parts.sopsKeys;
          return openRemoteTarget(live, place, { ...parts, accountTokens, remoteClusters, gated }, signal);
        },
      });
    }),
  failing: (before, failure, now) => failing({ conditions: [...before] }, failure, now).conditions,
};
