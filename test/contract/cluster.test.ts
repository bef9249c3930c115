import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { describe } from "vitest";
import { silentLog } from "../doubles/silent-log.ts";
import { clusterContract } from "./cluster/cluster-contract.ts";
import { connectUnderTest } from "./cluster/connect-under-test.ts";

clusterContract("lib/kube on the embedded API server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-cluster-"));
  const server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  const connected = await connectUnderTest(file);
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
  clusterContract("lib/kube on a real API server", () => connectUnderTest(realKubeconfig));
});
