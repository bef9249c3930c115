import type { AccountTokens } from "../../lib/core/ports/account-tokens.ts";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { asHome, asTarget } from "../../lib/core/ports/home-and-target.ts";

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

export const noHome = asHome(noCluster);
export const noTarget = asTarget(noCluster);

/** For a cluster that issues no tokens. */
export const noAccountTokens: AccountTokens = {
  issue: () => Promise.reject(new Error("this cluster issues no tokens")),
};
