import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { defaultSettings } from "../../../functions/settings/settings.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { startLocal } from "../../../local/start-local.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { startWholeFlux } from "../fleet/start-whole-flux.ts";
import type { BuiltFlux } from "../flux-recorder/built-flux.ts";
import { movingScene } from "../moving-scene.ts";
import { coursesAtOnce, type Scene } from "./play-scenario.ts";
import { sourceHosts } from "./source-hosts.ts";

/** Starts the hosts, source-controller on a real control plane, and `sluice local`. @param open ends them all */
export async function startScene(built: BuiltFlux, open: AsyncDisposableStack, signal: AbortSignal): Promise<Scene> {
  const { plane, folder, cluster } = await movingScene(open);
  const ofHosts = join(folder, "hosts");
  await mkdir(ofHosts);
  const hosts = await sourceHosts(ofHosts, open);
  // A retry changes nothing that is compared. source-controller needs a short delay, since it waits so after it has added a finalizer.
  const settings = { ...defaultSettings, "min-retry-delay": "10m" } as const;
  const sluice = await startLocal({ state: join(folder, "state"), env: {}, log: silentLog, settings }, signal);
  open.defer(() => sluice.close());
  const config = await readKubeconfig({ file: sluice.kubeconfig, env: {}, homeDir: homedir() });
  const bySluice = connect(config, { clock: systemClock, env: {} });
  open.defer(() => bySluice.close());
  const flags = { "source-controller": [`--concurrent=${coursesAtOnce}`] };
  open.use(await startWholeFlux({ ...built, kubeconfig: plane.adminKubeconfig, folder, cluster, flags }, signal));
  return { hosts, flux: { name: "flux", cluster }, sluice: { name: "sluice", cluster: bySluice } };
}
