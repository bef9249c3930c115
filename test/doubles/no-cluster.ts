import type { Cluster } from "../../lib/core/ports/cluster.ts";

const unexpected = async (): Promise<never> => {
  throw new Error("the test did not expect this call");
};

/** A cluster that refuses every call: a test replaces those that it expects. */
export const noCluster: Cluster = {
  uid: unexpected,
  resource: unexpected,
  served: unexpected,
  get: unexpected,
  list: unexpected,
  listMetadata: unexpected,
  apply: unexpected,
  create: unexpected,
  patch: unexpected,
  delete: unexpected,
  watch: () => {
    throw new Error("the test did not expect a watch");
  },
};
