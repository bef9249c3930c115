import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { type AuditedCluster, uninstallStories } from "./uninstall-stories.ts";

/** Deletes are recorded at the connection of the only client. */
async function open(): Promise<AuditedCluster> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-uninstall-"));
  const server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  const deleted: string[] = [];
  const config = await readKubeconfig({ file, env: {}, homeDir: folder });
  const cluster = connect(config, {
    clock: systemClock,
    env: {},
    observe: ({ verb, path }) => {
      if (verb === "delete") deleted.push(path);
    },
  });
  return {
    cluster,
    deletes: async () => deleted,
    async [Symbol.asyncDispose]() {
      cluster.close();
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

uninstallStories("the embedded API server", open, 1);
