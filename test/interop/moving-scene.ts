import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../../lib/core/ports/cluster.ts";
import { connect } from "../../lib/kube/connect.ts";
import { readKubeconfig } from "../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../lib/process/system-clock.ts";
import { startRegistry } from "../../local/registry/start-registry.ts";
import { silentLog } from "../doubles/silent-log.ts";
import { type OwnControlPlane, ownControlPlane } from "../real/own-control-plane.ts";

/** Where a move between Flux and Sluice is played. */
export interface MovingScene {
  readonly plane: OwnControlPlane;
  readonly folder: string;
  /** As the administrator. */
  readonly cluster: Cluster;
  /** The address of a registry, `127.0.0.1:PORT`. */
  readonly registry: string;
}

/** A control plane, a folder and a registry of a test's own. @param open ends them all */
export async function movingScene(open: AsyncDisposableStack): Promise<MovingScene> {
  const plane = open.use(await ownControlPlane());
  const folder = await mkdtemp(join(tmpdir(), "sluice-moving-"));
  open.defer(() => rm(folder, { recursive: true, force: true }));
  const config = await readKubeconfig({ file: plane.adminKubeconfig, env: {}, homeDir: homedir() });
  const cluster = connect(config, { clock: systemClock, env: {} });
  open.defer(() => cluster.close());
  const started = await startRegistry({
    folder: join(folder, "registry"),
    port: 0,
    log: silentLog,
    onPush: () => undefined,
  });
  open.defer(() => started.close());
  return { plane, folder, cluster, registry: started.address };
}
