import { homedir } from "node:os";
import { describe } from "vitest";
import { systemClock } from "../../lib/core/system-clock.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { clusterContract } from "./cluster.ts";

const realKubeconfig = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";

describe.skipIf(realKubeconfig === "")("with SLUICE_REAL_KUBECONFIG, whose user may do everything,", () => {
  clusterContract("lib/kube on a real API server", async () => {
    const config = await readKubeconfig({ file: realKubeconfig, env: process.env, homeDir: homedir() });
    const cluster = connect(config, { clock: systemClock, env: process.env });
    return {
      cluster,
      async close() {
        cluster.close();
      },
    };
  });
});
