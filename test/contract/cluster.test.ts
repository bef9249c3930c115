import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { systemClock } from "../../lib/core/system-clock.ts";
import { type ApiDeps, apiClient } from "../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../lib/kube/cluster-config.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { startKubernetes } from "../../local/kubernetes/start-kubernetes.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { clusterContract } from "./cluster/cluster-contract.ts";
import type { ClusterUnderTest } from "./cluster/cluster-under-test.ts";

async function connectBy(file: string): Promise<ClusterUnderTest> {
  return connectTo(await readKubeconfig({ file, env: process.env, homeDir: homedir() }));
}

function connectTo(config: ClusterConfig): ClusterUnderTest {
  const deps: ApiDeps = { clock: systemClock, env: process.env };
  const [cluster, api] = [connect(config, deps), apiClient(config, deps)];
  return {
    cluster,
    api,
    connectAs: (user, groups) => connectTo({ ...config, user: { ...config.user, impersonate: { user, groups } } }),
    async close() {
      cluster.close();
      api.close();
    },
  };
}

clusterContract("lib/kube on the embedded API server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-cluster-"));
  const server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  const connected = await connectBy(file);
  return {
    ...connected,
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
