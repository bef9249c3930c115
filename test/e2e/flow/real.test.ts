import { afterAll, beforeAll, describe } from "vitest";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { type ConnectedCluster, connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { removeWorlds } from "./remove-worlds.ts";
import { kustomizationStories } from "./stories.ts";
import { world } from "./world.ts";

const { signal } = new AbortController();
const file = process.env["SLUICE_REAL_KUBECONFIG"];
let cluster: ConnectedCluster;
const prefix = `flow-${Date.now()}-`;
let worlds = 0;

describe.skipIf(file === undefined)("a real control plane (set SLUICE_REAL_KUBECONFIG)", () => {
  beforeAll(async () => {
    cluster = connect(await readKubeconfig({ file: file ?? "", env: {}, homeDir: "/" }), {
      clock: systemClock,
      env: {},
    });
    await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
  });
  afterAll(async () => {
    await removeWorlds(cluster, prefix, signal);
    cluster.close();
  });

  const newWorld = () => world(cluster, `${prefix}${worlds++}`, (user) => cluster.as(user));
  kustomizationStories("a real control plane", newWorld);
});
