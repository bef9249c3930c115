import type { Resource } from "../resource/resource.ts";
import type { Cluster } from "./cluster.ts";
import { deleteAll } from "./delete-object.ts";
import { settleAfterWrite } from "./settle-definition.ts";

/** After a create or change: see {@link settleAfterWrite}. */
export function settle(cluster: Cluster, resource: Resource, name: string): void {
  settleAfterWrite(cluster, resource, name, (custom) => deleteAll(cluster, custom));
}
