import { openStore } from "../store/store.ts";
import { allocatorOf } from "./allocator.ts";
import type { Cluster } from "./cluster.ts";
import { resourcesIn } from "./resources.ts";

/** The cluster that the state folder holds. */
export function openCluster(stateFolder: string): { readonly cluster: Cluster; close(): void } {
  const store = openStore(stateFolder);
  const resources = resourcesIn(store);
  return {
    cluster: { store, resources, allocator: allocatorOf(store), now: () => new Date() },
    close: () => store.close(),
  };
}
