import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { inGateOrDeep } from "../../size.ts";
import { type AuditedCluster, uninstallStories } from "./uninstall-stories.ts";

/** Deletes are recorded at the connection of the only client. */
async function open(): Promise<AuditedCluster> {
  const deleted: string[] = [];
  const embedded = await embeddedCluster({
    definitions: false,
    observe: ({ verb, path }) => {
      if (verb === "delete") deleted.push(path);
    },
  });
  return { ...embedded, deletes: async () => deleted };
}

uninstallStories("the embedded API server", open, inGateOrDeep(3, 1));
