import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import type { Log } from "../../lib/core/ports/log.ts";
import { systemClock } from "../../lib/core/system-clock.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { startKubernetes } from "../../local/kubernetes/start-kubernetes.ts";
import { type ClusterUnderTest, clusterContract } from "./cluster.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

async function connectBy(file: string): Promise<ClusterUnderTest> {
  const config = await readKubeconfig({ file, env: process.env, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: process.env });
  return {
    cluster,
    async close() {
      cluster.close();
    },
  };
}

clusterContract("lib/kube on the embedded API server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-cluster-"));
  const server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silent });
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  const connected = await connectBy(file);
  return {
    cluster: connected.cluster,
    async close() {
      await connected.close();
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
});

const realKubeconfig = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";

describe.skipIf(realKubeconfig === "")("with SLUICE_REAL_KUBECONFIG, whose user may do everything,", () => {
  clusterContract("lib/kube on a real API server", () => connectBy(realKubeconfig));
});
