import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { afterAll, beforeAll, describe } from "vitest";
import { z } from "zod";
import { homeNetwork } from "../../../lib/core/network/network-policy.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { apiClient } from "../../../lib/kube/api-client.ts";
import type { ClusterConfig } from "../../../lib/kube/cluster-config.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { remoteClusters } from "../../../lib/kube/remote-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { listenOnLoopback } from "../../../local/loopback/listen-on-loopback.ts";
import { userFront } from "../../doubles/cluster-fronts.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { followAudit } from "../whole-system/audit-log.ts";
import { configMapAttacks } from "./config-map-attacks.ts";
import { configMapStories } from "./config-map-stories.ts";
import { kubeconfigEndStories } from "./kubeconfig-end-stories.ts";
import { type NamedServer, withToken } from "./kubeconfig-scene.ts";
import { kubeconfigStories } from "./kubeconfig-stories.ts";
import { lyingServerStories } from "./lying-server-stories.ts";
import { twoClustersStories } from "./two-clusters-stories.ts";
import { world } from "./world.ts";

const { signal } = new AbortController();

describe("two clusters", () => {
  let ending: AsyncDisposableStack;
  let home: NamedServer;
  let target: NamedServer;
  let worlds = 0;

  const begin = async () => ({
    world: Object.assign(await world(home.cluster, "two-clusters"), { target: target.cluster }),
    target: target.cluster,
    asked: async () => ({ home: await home.asked(), target: await target.asked() }),
  });
  const beginNamed = async () => {
    const clusters = remoteClusters({ clock: systemClock, network: homeNetwork });
    ending.defer(() => clusters.close());
    const made = await world(home.cluster, `named-${worlds++}`);
    return { world: Object.assign(made, { remoteClusters: clusters }), home, other: target };
  };
  const connectTo = async (file: string) => {
    const config = await readKubeconfig({ file, env: {}, homeDir: "/" });
    const cluster = connect(config, { clock: systemClock, env: {} });
    ending.defer(() => cluster.close());
    return { cluster, config };
  };

  /** Both serve the kinds, so an owner that is looked up in the wrong cluster is taken for gone. */
  const installBoth = async (): Promise<void> => {
    for (const { cluster } of [home, target])
      await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  };

  describe("embedded", () => {
    const start = async (): Promise<NamedServer> => {
      const folder = await mkdtemp(join(tmpdir(), "sluice-two-clusters-"));
      ending.defer(() => rm(folder, { recursive: true, force: true }));
      const paths: string[] = [];
      const server = await startKubernetes({
        stateFolder: folder,
        log: silentLog,
        listen: (http) => {
          http.on("request", ({ url = "" }) => void paths.push(url));
          return listenOnLoopback(http, 0, { name: "the API server", option: "--api-port" });
        },
      });
      ending.defer(() => server.close());
      const file = join(folder, "kubeconfig");
      await writeFile(file, server.kubeconfig());
      const { cluster, config } = await connectTo(file);
      const as = async (namespace: string, account: string): Promise<ClusterConfig> => {
        const front = ending.use(await userFront(config, `system:serviceaccount:${namespace}:${account}`));
        return withToken({ ...config, server: new URL(`http://127.0.0.1:${front.port}`) }, "any");
      };
      return { cluster, config, as, asked: async () => [...paths] };
    };
    beforeAll(async () => {
      ending = new AsyncDisposableStack();
      home = await start();
      target = await start();
      await installBoth();
    });
    afterAll(() => ending.disposeAsync());
    twoClustersStories("two embedded API servers", begin);
    kubeconfigStories("two embedded API servers", beginNamed, false);
    kubeconfigEndStories("two embedded API servers", beginNamed);
    lyingServerStories("two embedded API servers", beginNamed);
    configMapStories("two embedded API servers", beginNamed);
    configMapAttacks("two embedded API servers", beginNamed);
  });

  describe.skipIf(!mayHaveOwnControlPlane())("real (set SLUICE_REAL_KUBECONFIG)", () => {
    const start = async (): Promise<NamedServer> => {
      const plane = ending.use(await ownControlPlane());
      const audited = await followAudit(plane.audit);
      const { cluster, config } = await connectTo(plane.kubeconfig);
      // The plane's own controllers ask too: they are the user admin, and publish a ConfigMap in each new namespace.
      const isOurs = ({ user }: { readonly user: { readonly username: string } }) => user.username === "sluice";
      return {
        cluster,
        config,
        as: async (namespace, account) => withToken(config, await tokenOf({ cluster, config }, namespace, account)),
        asked: async () => (await audited()).filter(isOurs).map(({ requestURI }) => requestURI),
      };
    };
    beforeAll(async () => {
      ending = new AsyncDisposableStack();
      [home, target] = await Promise.all([start(), start()]);
      await installBoth();
    });
    afterAll(() => ending.disposeAsync());
    twoClustersStories("two real control planes", begin);
    kubeconfigStories("two real control planes", beginNamed, true);
    kubeconfigEndStories("two real control planes", beginNamed);
  });
});

/** A token that the API server gives out for a service account, which is made if it is missing. */
async function tokenOf(
  { cluster, config }: Pick<NamedServer, "cluster" | "config">,
  namespace: string,
  name: string,
): Promise<string> {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  await cluster.apply(account, { manager: "test", force: true }, signal);
  const client = apiClient(config, { clock: systemClock, env: {} });
  try {
    const json = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3_600 } };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { type: "application/json", json } as const;
    const answer = await client.expect({ verb: "create", method: "POST", path, body, repeatable: false }, signal);
    return z.object({ status: z.object({ token: z.string() }) }).parse(JSON.parse(answer.text)).status.token;
  } finally {
    client.close();
  }
}
