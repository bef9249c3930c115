import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { installCrds } from "../../../lib/definitions/install-crds.ts";
import { type ConnectedCluster, connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { kustomizationStories } from "./stories.ts";
import { world } from "./world.ts";

const { signal } = new AbortController();
let folder: string;
let server: Awaited<ReturnType<typeof startKubernetes>>;
let cluster: ConnectedCluster;
let worlds = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-flow-"));
  server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  cluster = connect(await readKubeconfig({ file, env: {}, homeDir: folder }), { clock: systemClock, env: {} });
  await installCrds(cluster, { clock: systemClock, log: silentLog }, signal);
});

afterAll(async () => {
  cluster.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const newWorld = () => world(cluster, `flow-${worlds++}`, (user) => cluster.as(user));
kustomizationStories("the embedded API server", newWorld);
