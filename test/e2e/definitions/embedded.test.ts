import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKubernetes } from "@sluice/embedded-kubernetes";
import { afterAll, beforeAll } from "vitest";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/core/system-clock.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { readKubeconfig } from "../../../lib/kube/kubeconfig.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { configurationStories } from "./configuration-stories.ts";
import { definitionsStories } from "./stories.ts";

let folder: string;
let server: Awaited<ReturnType<typeof startKubernetes>>;
let cluster: Cluster & { close(): void };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-definitions-"));
  server = await startKubernetes({ stateFolder: folder, port: 0, controllers: true, log: silentLog });
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig());
  cluster = connect(await readKubeconfig({ file, env: {}, homeDir: folder }), { clock: systemClock, env: {} });
});

afterAll(async () => {
  cluster.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

definitionsStories("the embedded API server", () => cluster);
configurationStories("the embedded API server", () => cluster);
