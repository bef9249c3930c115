import { homedir } from "node:os";
import { type ApiDeps, apiClient } from "../../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import type { ClusterUnderTest } from "./cluster-under-test.ts";

/** `lib/kube` on the API server that a kubeconfig names. */
export async function connectUnderTest(kubeconfig: string): Promise<ClusterUnderTest> {
  return connectTo(await readKubeconfig({ file: kubeconfig, env: process.env, homeDir: homedir() }));
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
