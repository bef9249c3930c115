import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { describe, expect, test } from "vitest";
import { testTimeoutMs } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { onFreePorts } from "../../real/free-ports.ts";
import { mayHaveOwnControlPlane, ownControlPlane } from "../../real/own-control-plane.ts";
import { readPidFiles } from "../../real/pid-file.ts";
import { localWorld } from "../local/local-world.ts";
import { type Plane, severalClusters } from "./several-clusters.ts";

test("one sluice local on two embedded API servers: equal names never mix, and the death of one does not affect the other", async () => {
  await using ending = new AsyncDisposableStack();
  const world = ending.use(await localWorld());
  const start = async (name: string): Promise<Plane> => {
    const options = { stateFolder: join(world.folder, name), controllers: true, log: silentLog };
    let [server, port] = await onFreePorts(1, async ([one = 0]) => [
      await startKubernetes({ ...options, port: one }),
      one,
    ]);
    ending.defer(() => server.close());
    const kubeconfig = join(world.folder, `${name}.kubeconfig`);
    await writeFile(kubeconfig, server.kubeconfig());
    return {
      kubeconfig,
      kill: () => server.close(),
      restart: async () => {
        server = await startKubernetes({ ...options, port });
      },
    };
  };
  await expect(severalClusters(world, await start("near"), await start("away"))).resolves.toBe(undefined);
});

describe.skipIf(!mayHaveOwnControlPlane())("real (set SLUICE_REAL_KUBECONFIG)", () => {
  test("one sluice local on two real control planes, one of which is killed", {
    timeout: 2 * testTimeoutMs,
  }, async () => {
    await using ending = new AsyncDisposableStack();
    const world = ending.use(await localWorld());
    const start = async (): Promise<Plane> => {
      const plane = ending.use(await ownControlPlane());
      const isServer = ({ name }: { readonly name: string }): boolean => name === "kube-apiserver";
      return {
        kubeconfig: plane.kubeconfig,
        async kill() {
          const [server] = readPidFiles(dirname(plane.audit)).filter(isServer);
          if (server === undefined) throw new Error("the API server has no pid file");
          process.kill(server.pid, "SIGKILL");
        },
      };
    };
    const [near, away] = await Promise.all([start(), start()]);
    await expect(severalClusters(world, near, away)).resolves.toBe(undefined);
  });
});
