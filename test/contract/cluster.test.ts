import { describe } from "vitest";
import { embeddedCluster } from "../doubles/embedded-cluster.ts";
import { clusterContract } from "./cluster/cluster-contract.ts";
import { connectUnderTest } from "./cluster/connect-under-test.ts";

clusterContract("lib/kube on the embedded API server", async () => {
  const embedded = await embeddedCluster({ definitions: false });
  const connected = await connectUnderTest(embedded.kubeconfig);
  return {
    ...connected,
    async close() {
      await connected.close();
      await embedded[Symbol.asyncDispose]();
    },
  };
});

const realKubeconfig = process.env["SLUICE_REAL_KUBECONFIG"] ?? "";

describe.skipIf(realKubeconfig === "")("with SLUICE_REAL_KUBECONFIG, whose user has all rights,", () => {
  clusterContract("lib/kube on a real API server", () => connectUnderTest(realKubeconfig));
});
