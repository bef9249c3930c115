import { describe } from "vitest";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { inGateOrDeep } from "../../size.ts";
import { followAudit } from "../whole-system/audit-log.ts";
import { type AuditedCluster, uninstallStories } from "./uninstall-stories.ts";

/** A control plane of its own, since definitions are removed; what its users deleted is read from its audit log. */
async function open(): Promise<AuditedCluster> {
  const plane = await ownControlPlane();
  const audited = await followAudit(plane.audit);
  const config = await readKubeconfig({ file: plane.kubeconfig, env: {}, homeDir: "/" });
  const cluster = connect(config, { clock: systemClock, env: {} });
  return {
    cluster,
    deletes: async () => {
      const events = (await audited()).filter(({ verb }) => verb.startsWith("delete"));
      // The plane's own controllers collect what they have made, and objects of definitions that go: they are the user admin.
      const ours = events.filter(({ user }) => user.username === "sluice");
      return ours.map(({ requestURI }) => requestURI);
    },
    async [Symbol.asyncDispose]() {
      cluster.close();
      await plane[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(!mayHaveOwnControlPlane())("with SLUICE_REAL_KUBECONFIG", () => {
  // The gate plays what depends on the garbage collector, finalizers and preconditions of a real API server.
  uninstallStories("a real control plane", open, inGateOrDeep(undefined, 1));
});
