import { afterAll, beforeAll } from "vitest";
import type { HelmEngine } from "../../lib/core/ports/helm-engine.ts";
import { helmModule, wasmHelm } from "../../lib/engine/wasm-helm.ts";
import { type EmbeddedCluster, embeddedCluster, type EmbeddedClusterOptions } from "./embedded-cluster.ts";

// What all tests of one file share. Call these at the top of the file: they open before its first test, and close after its last.

/** One embedded cluster for the tests of a file. Each test takes a namespace of its own. */
export function fileCluster(options: EmbeddedClusterOptions = {}): Omit<EmbeddedCluster, keyof AsyncDisposable> {
  let open: EmbeddedCluster | undefined;
  beforeAll(async () => {
    open = await embeddedCluster(options);
  });
  afterAll(() => open?.[Symbol.asyncDispose]());
  const started = (): EmbeddedCluster => {
    if (open === undefined)
      throw new Error("the cluster starts before the first test: use it inside of tests and hooks");
    return open;
  };
  return {
    get cluster() {
      return started().cluster;
    },
    get kubeconfig() {
      return started().kubeconfig;
    },
    get server() {
      return started().server;
    },
  };
}

/** Helm with one thread, for the tests of a file. */
export function fileHelm(): HelmEngine {
  const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
  afterAll(() => helm.close());
  return helm;
}
